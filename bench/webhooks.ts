import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { makeFolder, withCleanUp } from './clean-up.ts';
import { machine } from './machine.ts';
import { readOptions, wholeNumber } from './options.ts';
import { median } from './sample.ts';
import { measureDelivery } from './webhooks/delivery.ts';
import { measureLatency } from './webhooks/latency.ts';
import { startReceiver } from './webhooks/receiver.ts';

/**
 * npm run bench:webhooks [-- --events 10000 --backlog 1000000 --rounds 5 --seconds 10 --json]
 * How fast deliveries go out, beside a bare undici loop that sends the same bodies, signed the same way, over as many
 * connections to the same TLS receiver; how long they take at 200 events a second; and what a dead receiver with a large
 * backlog does to the others. Services, receiver and loop are processes of their own on this machine.
 */
const given = readOptions(['json'], ['events', 'backlog', 'rounds', 'seconds']);
const options = {
  events: wholeNumber('events', given.events, 20_000),
  backlog: wholeNumber('backlog', given.backlog, 1_000_000),
  rounds: wholeNumber('rounds', given.rounds, 5),
  seconds: wholeNumber('seconds', given.seconds, 10),
};
const ms = (value: number) => `${value.toFixed(1)} ms`;
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

  say(
    `200 events a second, with and without ${options.backlog} deliveries waiting for a receiver that is silent`,
  );
  const { free, burdened } = await measureLatency(env, receiver, options);
  say(`p95 of each round without: ${free.map(ms).join(', ')}; with: ${burdened.map(ms).join(', ')}`);
  const [alone, beside] = [median(free), median(burdened)];

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
  if (given.json) process.stdout.write(`${JSON.stringify({ machine: machine(), scenarios: rounded })}\n`);
  else {
    process.stdout.write(`${machine()}\n`);
    console.table(rounded);
  }
}
