import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { statement, type Tx } from '../db/client.ts';
import { badRequest, invalid } from '../errors.ts';

const keptFor = '24 hours';

export interface Answer<T> {
  status: 200 | 201;
  data: T;
}

/**
 * Runs a POST in one transaction. With an Idempotency-Key its answer is stored in that same transaction, so the change
 * and the memory of it exist together or not at all.
 */
export async function answerOnce<T>(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Tx) => Promise<Answer<T>>,
): Promise<{ data: T } | string> {
  const key = idempotencyKey(request);
  if (key === undefined) {
    const { status, data } = await ctx.db.transaction(work);
    reply.code(status);
    return { data };
  }

  const { workspaceId, keyId } = request.caller;
  const fingerprint = createHash('sha256')
    .update(`${request.method} ${request.url}\n`)
    .update(request.rawBody ?? '')
    .digest();
  const answer = await ctx.db.transaction(async (tx) => {
    const [lock] = await tx.query(lockKey, [`${keyId} ${key}`]);
    if (!lock?.locked)
      throw badRequest('A request with this Idempotency-Key is still running; retry when it is done');
    const [first] = await tx.query(findAnswer, [workspaceId, keyId, key]);
    if (first) {
      if (!fingerprint.equals(first.fingerprint)) throw reusedKey();
      return { status: first.status, body: ctx.vault.open(first.sealed_answer), replayed: true };
    }
    const { status, data } = await work(tx);
    const body = JSON.stringify({ data });
    tx.send(storeAnswer, [workspaceId, keyId, key, fingerprint, status, ctx.vault.seal(body)]);
    return { status, body, replayed: false };
  });
  reply.code(answer.status).type('application/json; charset=utf-8');
  if (answer.replayed) reply.header('idempotent-replayed', 'true');
  return answer.body;
}

function idempotencyKey(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !/^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(key)) {
    throw badRequest('Idempotency-Key must be 1 to 255 visible ASCII characters', [
      { field: 'Idempotency-Key', rule: 'pattern', message: 'must be 1 to 255 visible ASCII characters' },
    ]);
  }
  return key;
}

const reusedKey = () =>
  invalid(
    'Idempotency-Key',
    'reused',
    'This Idempotency-Key was used for another request in the last 24 hours',
  );

const lockKey = statement<{ locked: boolean }>(
  'idempotency.lock',
  `select pg_try_advisory_xact_lock(hashtextextended('idempotency ' || $1, 0)) as locked`,
);

const findAnswer = statement<{ fingerprint: Buffer; status: 200 | 201; sealed_answer: Buffer }>(
  'idempotency.find',
  `select fingerprint, status, sealed_answer from idempotency_keys
   where workspace_id = $1 and api_key_id = $2 and key = $3 and created_at > clock_timestamp() - interval '${keptFor}'`,
);

/** An expired record of the same key, not swept yet, makes way. */
const storeAnswer = statement<never>(
  'idempotency.store',
  `insert into idempotency_keys (workspace_id, api_key_id, key, fingerprint, status, sealed_answer)
   values ($1, $2, $3, $4, $5, $6)
   on conflict (workspace_id, api_key_id, key) do update set
     fingerprint = excluded.fingerprint, status = excluded.status, sealed_answer = excluded.sealed_answer,
     created_at = clock_timestamp()`,
);

const forgetAnswers = statement<never>(
  'idempotency.forget',
  `delete from idempotency_keys where created_at < now() - interval '${keptFor}'`,
);

export async function sweepIdempotencyKeys({ db }: Context): Promise<void> {
  await db.transaction(async (tx) => tx.send(forgetAnswers, []));
}
