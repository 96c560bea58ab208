import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { call } from '../api.ts';
import { atEnd, endProcess } from '../clean-up.ts';
import { makeKeys } from '../keys.ts';
import { type Service, startService, withDatabase } from '../service.ts';
import type { Receiver } from './receiver.ts';

/** As many as one webhook may have at once. */
const connections = 100;
const requestsPerKey = 900;

export type DeliveryEnv = Record<string, string> & { INBOX_DATA_DIR: string; INBOX_API_KEY: string };

/**
 * How fast a worker sends what waits, beside a bare loop that signs and sends the same body over as many connections to
 * the same receiver. Leaves a webhook for `/live` behind, and the service stopped.
 */
export async function measureDelivery(
  env: DeliveryEnv,
  receiver: Receiver,
  { events, repetitions }: { events: number; repetitions: number },
): Promise<{ ours: number[]; bare: number[] }> {
  const api = await startService({ ...env, INBOX_ROLE: 'api' });
  await call('POST', `${api.origin}/v1/webhooks`, env.INBOX_API_KEY, {
    url: `${receiver.url}live`,
    events: ['contact.created'],
  });
  await writeEvents(api, events);
  const body = await lastEvent(api);
  await api.stop();

  const [ours, bare]: [number[], number[]] = [[], []];
  await receiver.reset();
  const worker = await startService({ ...env, INBOX_ROLE: 'worker' });
  for (let repetition = 0; repetition < repetitions; repetition++) {
    if (repetition > 0) await queueAgain(worker);
    ours.push(await receiver.rate('/live', events));
    await runBareLoop(`${receiver.url}bare`, body, events, receiver);
    bare.push(await receiver.rate('/bare', events));
    await receiver.reset();
  }
  await worker.stop();
  return { ours, bare };
}

/** Contacts made over HTTP: each raises an event, and waits for a worker. */
async function writeEvents(service: Service, count: number): Promise<void> {
  const keys = await makeKeys(service, Math.ceil(count / requestsPerKey));
  let next = 0;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let i = next++; i < count; i = next++) {
        await call('POST', `${service.origin}/v1/contacts`, keys[i % keys.length]!, {
          name: `Contact ${i}`,
          email: `c${i}@example.com`,
        });
      }
    }),
  );
}

async function lastEvent(service: Service): Promise<string> {
  return withDatabase(service, async (client) => {
    const { rows } = await client.query<{ body: string }>(`select body from events order by id desc limit 1`);
    return rows[0]!.body;
  });
}

/** Every event once more. */
async function queueAgain(service: Service): Promise<void> {
  await withDatabase(service, (client) =>
    client.query(
      `insert into delivery_queue (workspace_id, id, webhook_id, event_id, event_type, next_at, created_at)
       select w.workspace_id, uuidv7(), w.id, e.id, e.type, now(), now()
       from webhooks w join events e on e.workspace_id = w.workspace_id and e.type = any (w.events)
       where not w.deleted`,
    ),
  );
}

async function runBareLoop(url: string, body: string, count: number, { env }: Receiver): Promise<void> {
  const child = fork(
    join(import.meta.dirname, 'bare-loop.ts'),
    [url, body, String(count), String(connections)],
    {
      env: { ...process.env, ...env },
      detached: true,
    },
  );
  atEnd(() => endProcess(child));
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the bare loop ended with ${code}`);
}
