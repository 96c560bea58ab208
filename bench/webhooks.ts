import { type ChildProcess, fork, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { Agent, request } from 'undici';
import { createAuthority } from '../test/certificates.ts';

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
const root = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'inbox-bench-'));
chmodSync(folder, 0o755); // the embedded database may run as another user
const children = new Set<ChildProcess>();
/** As many as one webhook may have at once. */
const connections = 100;
const say = (line: string) => process.stderr.write(`${line}\n`);

if (process.argv.includes('--receiver')) await runReceiver();
else if (process.argv.includes('--bare')) await runBareLoop();
else await main();

async function main(): Promise<void> {
  const authority = createAuthority();
  writeFileSync(join(folder, 'ca.pem'), authority.cert);
  writeFileSync(join(folder, 'server.json'), JSON.stringify(authority.issue({ hosts: ['127.0.0.1'] })));
  const receiver = await startReceiver();
  const key = `bench_${randomBytes(16).toString('hex')}`;
  const env = {
    PORT: '0',
    INBOX_DATA_DIR: join(folder, 'data'),
    INBOX_API_KEY: key,
    INBOX_EGRESS_ALLOW: '127.0.0.0/8',
    INBOX_LOG_LEVEL: 'error',
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
  };
  try {
    say('starting the service');
    let service = await startService({ ...env, INBOX_ROLE: 'api' });
    await hook(service.url, key, `${receiver.url}live`);
    say(`writing ${options.events} events`);
    const sample = await writeEvents(service, key);
    await service.stop();

    say('sending them');
    service = await startService({ ...env, INBOX_ROLE: 'worker' });
    const ours = await receiver.rate('/live', options.events);
    await service.stop();
    say('the same from a bare loop');
    await receiver.reset();
    await runForked('--bare', receiver.url, sample);
    const bare = await receiver.rate('/bare', options.events);

    say(`200 events a second for ${options.seconds} s`);
    service = await startService(env);
    await steady(service, key, 5); // warm-up
    await receiver.reset();
    await steady(service, key);
    const alone = await receiver.latency('/live');
    say(`the same beside ${options.backlog} deliveries waiting for a receiver that answers nothing`);
    await fillDeadLane(service, `${receiver.url}dead`);
    await receiver.reset();
    await steady(service, key);
    const beside = await receiver.latency('/live');
    await service.stop();

    report([
      { name: 'webhook_delivery', value: ours, unit: 'deliveries/s', limit: bare, ratio: ours / bare },
      { name: 'webhook_latency_p95_200', value: alone, unit: 'ms', limit: 100, ratio: alone / 100 },
      {
        name: 'webhook_latency_p95_dead_lane',
        value: beside,
        unit: 'ms',
        limit: alone,
        ratio: beside / alone,
      },
    ]);
  } finally {
    for (const child of children) child.kill('SIGTERM');
    await Promise.all([...children].map((child) => once(child, 'exit')));
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Figure {
  name: string;
  value: number;
  unit: string;
  limit: number;
  ratio: number;
}

function report(scenarios: Figure[]): void {
  const machine = `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
  const round = (value: number) => Math.round(value * 100) / 100;
  const rounded = scenarios.map((s) => ({
    ...s,
    value: round(s.value),
    limit: round(s.limit),
    ratio: round(s.ratio),
  }));
  if (process.argv.includes('--json'))
    process.stdout.write(`${JSON.stringify({ machine, scenarios: rounded })}\n`);
  else {
    process.stdout.write(`${machine}\n`);
    console.table(rounded);
  }
}

async function startService(env: Record<string, string>) {
  const child = spawn(process.execPath, ['server/main.ts'], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    const found = /^inbox (?:worker )?ready on (\S+)$/m.exec(output);
    if (!found) continue;
    return {
      url: new URL('/v1', found[1]).href,
      databaseUrl: `postgresql://inbox@localhost/inbox?host=${socketFolder(env['INBOX_DATA_DIR']!)}`,
      async stop() {
        children.delete(child);
        child.kill('SIGTERM');
        await once(child, 'exit');
      },
    };
  }
  throw new Error('the service did not start');
}

type Service = Awaited<ReturnType<typeof startService>>;

/** Where the embedded database listens, as long as the path is short. */
function socketFolder(dataDir: string): string {
  return join(dataDir, 'postgres');
}

async function call(url: string, key: string, body: object): Promise<{ data: { id: string } }> {
  const answer = await request(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${answer.statusCode} ${text}`);
  return JSON.parse(text) as { data: { id: string } };
}

function hook(url: string, key: string, target: string) {
  return call(`${url}/webhooks`, key, { url: target, events: ['contact.created'] });
}

/** A key passes 1,000 requests a minute: so many keys that none is refused. */
async function manyKeys(service: Service, key: string, requests: number): Promise<string[]> {
  const keys: string[] = [];
  for (let i = 0; i < Math.ceil(requests / 900); i++) {
    const { data } = await call(`${service.url}/api_keys`, key, { name: `Bench ${i}` });
    keys.push((data as unknown as { key: string }).key);
  }
  return keys;
}

async function writeEvents(service: Service, key: string): Promise<string> {
  const keys = await manyKeys(service, key, options.events);
  let next = 0;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let i = next++; i < options.events; i = next++) {
        await call(`${service.url}/contacts`, keys[i % keys.length]!, {
          name: `Contact ${i}`,
          email: `c${i}@example.com`,
        });
      }
    }),
  );
  return withDatabase(service, async (client) => {
    const { rows } = await client.query<{ body: string }>(`select body from events order by id desc limit 1`);
    return rows[0]!.body;
  });
}

async function steady(service: Service, key: string, seconds = options.seconds): Promise<void> {
  const total = 200 * seconds;
  const keys = await manyKeys(service, key, total);
  const started = performance.now();
  const pending: Promise<unknown>[] = [];
  for (let i = 0; i < total; i++) {
    const wait = started + i * 5 - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    pending.push(call(`${service.url}/contacts`, keys[i % keys.length]!, { name: `Steady ${i}` }));
  }
  await Promise.all(pending);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
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
  await new Promise((resolve) => setTimeout(resolve, 15_000)); // until it has timed out and been throttled
}

async function withDatabase<T>(service: Service, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: service.databaseUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The receiver's process: counts what comes, by path, and when. `/dead` is never answered. */
async function runReceiver(): Promise<void> {
  const { createServer } = await import('node:https');
  const { readFileSync } = await import('node:fs');
  const tls = JSON.parse(readFileSync(process.argv.at(-1)!, 'utf8')) as { cert: string; key: string };
  let seen = new Map<string, { at: number; sentAt: number }[]>();
  const server = createServer(tls, (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { timestamp } = JSON.parse(Buffer.concat(chunks).toString()) as { timestamp: string };
      const list = seen.get(incoming.url!) ?? [];
      list.push({ at: Date.now(), sentAt: Date.parse(timestamp) });
      seen.set(incoming.url!, list);
      if (incoming.url !== '/dead') response.end('ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('message', (message: { ask: string; path: string }) => {
    if (message.ask === 'reset') seen = new Map();
    process.send!({ list: seen.get(message.path) ?? [] });
  });
  process.on('SIGTERM', () => process.exit());
  process.send!({ port: (server.address() as { port: number }).port });
}

async function startReceiver() {
  const child = fork(import.meta.filename, ['--receiver', join(folder, 'server.json')]);
  children.add(child);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const ask = async (question: string, path = ''): Promise<{ at: number; sentAt: number }[]> => {
    child.send({ ask: question, path });
    const [{ list }] = (await once(child, 'message')) as [{ list: { at: number; sentAt: number }[] }];
    return list;
  };
  return {
    url: `https://127.0.0.1:${port}/`,
    reset: () => ask('reset'),
    /** Deliveries a second, sustained: the first quarter of `count` is warm-up. */
    async rate(path: string, count: number): Promise<number> {
      for (;;) {
        const list = await ask('list', path);
        const first = Math.floor(count / 4);
        if (list.length >= count) return (1000 * (count - first)) / (list[count - 1]!.at - list[first]!.at);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    },
    /** 95th percentile from the event's own time to its receipt. */
    async latency(path: string): Promise<number> {
      const all = (await ask('list', path)).map(({ at, sentAt }) => at - sentAt).toSorted((a, b) => a - b);
      return all[Math.floor(all.length * 0.95)] ?? Number.NaN;
    },
  };
}

async function runForked(...args: string[]): Promise<void> {
  const child = fork(import.meta.filename, [...args, '--events', String(options.events)], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') },
  });
  children.add(child);
  await once(child, 'exit');
  children.delete(child);
}

/** Nothing but sign and send. */
async function runBareLoop(): Promise<void> {
  const at = process.argv.indexOf('--bare');
  const [url, body] = [process.argv[at + 1]!, Buffer.from(process.argv[at + 2]!)];
  const dispatcher = new Agent({ pipelining: 1, connections });
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  let next = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (next++ < options.events) {
        const hex = createHmac('sha256', secret).update(body).digest('hex');
        const standard = createHmac('sha256', secret).update('evt.1.').update(body).digest('base64');
        const answer = await request(`${url}bare`, {
          dispatcher,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-service-signature': `sha256=${hex}`,
            'webhook-signature': `v1,${standard}`,
          },
          body,
        });
        await answer.body.dump();
      }
    }),
  );
  await dispatcher.close();
}

function numberOption(name: string, fallback: number): number {
  const at = process.argv.indexOf(name);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
}
