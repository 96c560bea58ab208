import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from './api.ts';
import { makeFolder, withCleanUp } from './clean-up.ts';
import { makeKeys } from './keys.ts';
import { machine } from './machine.ts';
import { hasFlag, numberOption } from './options.ts';
import { type Service, startService, withDatabase } from './service.ts';
import { measureDelivery } from './webhooks/delivery.ts';
import { startReceiver } from './webhooks/receiver.ts';

/**
 * npm run bench:webhooks [-- --events 10000 --backlog 1000000 --json]
 * How fast deliveries go out, beside a bare undici loop that sends the same bodies, signed the same way, over as many
 * connections to the same TLS receiver; how long they take at 200 events a second; and what a dead receiver with a large
 * backlog does to the others. Service, receiver and loop are processes of their own on this machine.
 */
const options = {
  events: numberOption('--events', 20_000),
  backlog: numberOption('--backlog', 1_000_000),
  seconds: numberOption('--seconds', 15),
};
const say = (line: string) => process.stderr.write(`${line}\n`);

await withCleanUp(async () => {
  const folder = makeFolder();
  const receiver = await startReceiver(folder);
  const env = {
    ...receiver.env,
    INBOX_DATA_DIR: join(folder, 'data'),
    INBOX_API_KEY: `bench_${randomBytes(16).toString('hex')}`,
    INBOX_LOG_LEVEL: 'error',
  };
  say(`writing and sending ${options.events} events, then the same from a bare loop`);
  const {
    ours: [ours],
    bare: [bare],
  } = await measureDelivery(env, receiver, { events: options.events, repetitions: 1 });

  say(`200 events a second for ${options.seconds} s`);
  const service = await startService(env);
  await steady(service, 5); // warm-up
  await receiver.reset();
  await steady(service);
  const alone = await receiver.latency('/live');
  say(`the same beside ${options.backlog} deliveries waiting for a receiver that answers nothing`);
  await fillDeadLane(service, `${receiver.url}dead`);
  await steady(service); // after so large an insert the disk is busy for a while, dead lane or not
  await receiver.reset();
  await steady(service);
  const beside = await receiver.latency('/live');

  report([
    { name: 'webhook_delivery', value: ours!, unit: 'deliveries/s', limit: bare!, ratio: ours! / bare! },
    { name: 'webhook_latency_p95_200', value: alone, unit: 'ms', limit: 100, ratio: alone / 100 },
    {
      name: 'webhook_latency_p95_dead_lane',
      value: beside,
      unit: 'ms',
      limit: alone,
      ratio: beside / alone,
    },
  ]);
});

interface Figure {
  name: string;
  value: number;
  unit: string;
  limit: number;
  ratio: number;
}

function report(scenarios: Figure[]): void {
  const round = (value: number) => Math.round(value * 100) / 100;
  const rounded = scenarios.map((s) => ({
    ...s,
    value: round(s.value),
    limit: round(s.limit),
    ratio: round(s.ratio),
  }));
  if (hasFlag('--json'))
    process.stdout.write(`${JSON.stringify({ machine: machine(), scenarios: rounded })}\n`);
  else {
    process.stdout.write(`${machine()}\n`);
    console.table(rounded);
  }
}

async function steady(service: Service, seconds = options.seconds): Promise<void> {
  const total = 200 * seconds;
  const keys = await makeKeys(service, Math.ceil(total / 900));
  const started = performance.now();
  const pending: Promise<unknown>[] = [];
  for (let i = 0; i < total; i++) {
    const wait = started + i * 5 - performance.now();
    if (wait > 0) await sleep(wait);
    const key = keys[i % keys.length]!;
    pending.push(call('POST', `${service.origin}/v1/contacts`, key, { name: `Steady ${i}` }));
  }
  await Promise.all(pending);
  await sleep(1_000);
}

async function fillDeadLane(service: Service, url: string): Promise<void> {
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
      [url, options.backlog],
    );
    await client.query('vacuum analyze delivery_queue');
    await client.query('checkpoint'); // the writing of the backlog itself is not what is measured
  });
  await sleep(15_000); // until it has timed out and been throttled
}
