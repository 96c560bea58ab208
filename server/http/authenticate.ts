import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { statement } from '../db/client.ts';
import type { Scope } from './scopes.ts';

/** Who a request comes from. */
export interface Caller {
  workspaceId: string;
  keyId: string;
  keyName: string;
  scopes: ReadonlySet<Scope>;
  plan: Plan;
  /** The agent the key stands for. */
  agent: { id: string; name: string } | undefined;
}

export const plans = ['starter', 'pro', 'business'] as const;
export type Plan = (typeof plans)[number];

export const hashKey = (key: string): Buffer => hash('sha256', key, 'buffer');

interface KeyRow {
  workspace_id: string;
  id: string;
  name: string;
  hash: Buffer;
  scopes: Scope[];
  plan: Plan;
  agent_id: string | null;
  agent_name: string | null;
  expires_in_ms: number | null;
}

const findLiveKey = statement<KeyRow>(
  'keys.find_live',
  `select k.workspace_id, k.id, k.name, k.hash, k.scopes, w.plan, a.id as agent_id, a.name as agent_name,
          (extract(epoch from k.expires_at - clock_timestamp()) * 1000)::float8 as expires_in_ms
   from api_keys k
   join workspaces w on w.id = k.workspace_id
   left join agents a on a.workspace_id = k.workspace_id and a.id = k.agent_id
   where k.hash = $1 and not k.revoked and (k.expires_at is null or k.expires_at > clock_timestamp())
     and (a.id is null or not a.archived)`,
);

const touchKey = statement<never>(
  'keys.touch',
  `update api_keys set last_used_at = clock_timestamp() where workspace_id = $1 and id = $2`,
);

/** A revoked key stops working within this time in every process; nothing else is ever this old. */
const keyStateMs = 4_000;
const lastUsedEveryMs = 60_000;

export type Authenticate = (request: FastifyRequest) => Promise<Caller | undefined>;

export function createAuthenticator({ db, log }: Context): Authenticate {
  const known = new Map<string, { caller: Caller; until: number }>();
  const touched = new Map<string, number>();

  return async (request) => {
    const key = bearerToken(request.headers.authorization);
    if (key === undefined) return undefined;
    const cacheKey = hash('sha256', key, 'base64'); // 0.7 µs; made and printed in steps it is 3.3
    const now = performance.now();
    const cached = known.get(cacheKey);
    if (cached && cached.until > now) return cached.caller;

    const sha256 = Buffer.from(cacheKey, 'base64');
    const [row] = await db.query(findLiveKey, [sha256]);
    if (!row || !timingSafeEqual(row.hash, sha256)) {
      known.delete(cacheKey);
      return undefined;
    }
    const caller = callerOf(row);
    if (known.size > 10_000) known.clear();
    known.set(cacheKey, { caller, until: now + Math.min(keyStateMs, row.expires_in_ms ?? keyStateMs) });
    if ((touched.get(caller.keyId) ?? -lastUsedEveryMs) <= now - lastUsedEveryMs) {
      touched.set(caller.keyId, now);
      void db
        .transaction(async (tx) => tx.send(touchKey, [caller.workspaceId, caller.keyId]))
        .catch((error: unknown) => log.warn({ err: error }, 'last_used_at of a key was not written'));
    }
    return caller;
  };
}

function bearerToken(header: string | undefined): string | undefined {
  const [, token] = /^Bearer +(\S{1,255}) *$/i.exec(header ?? '') ?? [];
  return token;
}

function callerOf(row: KeyRow): Caller {
  return {
    workspaceId: row.workspace_id,
    keyId: row.id,
    keyName: row.name,
    scopes: new Set(row.scopes),
    plan: row.plan,
    agent: row.agent_id && row.agent_name ? { id: row.agent_id, name: row.agent_name } : undefined,
  };
}
