import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../api.ts';
import { makeKeys } from '../keys.ts';
import { type Service, startService, withDatabase } from '../service.ts';
import type { DeliveryEnv } from './delivery.ts';
import type { Receiver } from './receiver.ts';

export interface Latency {
  /** 95th percentile of each round from the event's own time to its receipt, in ms. */
  free: number[];
  /** The same where so many deliveries wait for a receiver that answers nothing. */
  burdened: number[];
}

const eventsPerSecond = 200;
const requestsPerKey = 900;

/**
 * Two services, each with its own database and alike but for the backlog, take turns: what the machine does meanwhile
 * meets both.
 */
export async function measureLatency(
  env: DeliveryEnv,
  receiver: Receiver,
  { backlog, rounds, seconds }: { backlog: number; rounds: number; seconds: number },
): Promise<Latency> {
  const free = await subscribed({ ...env, INBOX_DATA_DIR: `${env.INBOX_DATA_DIR}-free` }, receiver);
  const burdened = await subscribed({ ...env, INBOX_DATA_DIR: `${env.INBOX_DATA_DIR}-burdened` }, receiver);
  for (const service of [free, burdened]) await steady(service, seconds);
  await fillDeadLane(burdened, `${receiver.url}dead`, backlog);
  for (const service of [free, burdened]) await steady(service, seconds); // the disk settles after so large an insert
  const measured: Latency = { free: [], burdened: [] };
  for (let round = 0; round < rounds; round++) {
    for (const [name, service] of [['free', free] as const, ['burdened', burdened] as const]) {
      await receiver.reset();
      await steady(service, seconds);
      measured[name].push(await receiver.latency('/live'));
    }
  }
  await Promise.all([free.stop(), burdened.stop()]);
  return measured;
}

async function subscribed(env: DeliveryEnv, receiver: Receiver): Promise<Service> {
  const service = await startService(env);
  await call('POST', `${service.origin}/v1/webhooks`, env.INBOX_API_KEY, {
    url: `${receiver.url}live`,
    events: ['contact.created'],
  });
  return service;
}

async function steady(service: Service, seconds: number): Promise<void> {
  const total = eventsPerSecond * seconds;
  const keys = await makeKeys(service, Math.ceil(total / requestsPerKey));
  const started = performance.now();
  const pending: Promise<unknown>[] = [];
  for (let i = 0; i < total; i++) {
    const wait = started + (i * 1_000) / eventsPerSecond - performance.now();
    if (wait > 0) await sleep(wait);
    const key = keys[i % keys.length]!;
    pending.push(call('POST', `${service.origin}/v1/contacts`, key, { name: `Steady ${i}` }));
  }
  await Promise.all(pending);
  await sleep(1_000);
}

async function fillDeadLane(service: Service, url: string, count: number): Promise<void> {
  await withDatabase(service, async (client) => {
    await client.query(
      `insert into webhooks (workspace_id, id, url, events, sealed_secret)
       select workspace_id, gen_random_uuid(), $1, '{}', sealed_secret from webhooks limit 1`,
      [url],
    );
    await client.query(
      `insert into delivery_queue (workspace_id, id, webhook_id, event_id, event_type, next_at, created_at)
       select w.workspace_id, gen_random_uuid(), w.id, e.id, e.type, now(), now()
       from webhooks w, (select id, type from events limit 1) e, generate_series(1, $2)
       where w.url = $1`,
      [url, count],
    );
    await client.query('vacuum analyze delivery_queue');
    await client.query('checkpoint'); // the writing of the backlog itself is not what is measured
  });
  await sleep(15_000); // until it has timed out and been throttled
}
