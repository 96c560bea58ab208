import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, inParallel } from '../factory.ts';
import { atEnd, createDatabase, startService } from '../harness.ts';
import { external, gone, isAlive, longMs, start, stop } from './child.ts';

const databaseUrl = await createDatabase();
const service = await start({ ...external(databaseUrl), INBOX_PROCESSES: '2' });
/** Another process on the same database, to make workspaces and keys with. */
const beside = await startService({ url: databaseUrl });
atEnd(() => beside.close());

/** A connection of its own each, as connections are what is shared out. */
const once = { connection: 'close' };

/** The processes that have answered requests, by the log lines after the first `from`. */
const serving = (from = 0) => {
  const requests = service
    .logs()
    .slice(from)
    .filter(({ msg }) => msg === 'request');
  return new Set(requests.map(({ pid }) => pid));
};

async function bothServe(): Promise<number[]> {
  const before = service.logs().length;
  const pids = await eventually(
    longMs,
    async () => {
      await fetch(`${service.origin}/healthz`, { headers: once });
      return serving(before);
    },
    ({ size }) => size === 2,
  );
  return [...pids];
}

test('two processes serve on one port, and neither is the one that was started', async () => {
  const pids = await bothServe();
  assert.ok(!pids.includes(service.pid));
});

test('/metrics is the sum over the processes', async () => {
  const ws = await beside.workspace();
  for (let count = 0; count < 40; count++) {
    await service.request('GET', '/workspace', undefined, { key: ws.key, headers: once });
  }
  assert.equal(serving().size, 2);
  const counted =
    /inbox_http_request_seconds_count\{method="GET",route="\/v1\/workspace",status="200"\} (\d+)/;
  const scrape = async () => {
    const text = await (await fetch(`${service.origin}/metrics`, { headers: once })).text();
    return Number(counted.exec(text)?.[1]);
  };
  await eventually(longMs, scrape, (count) => count === 40); // a request counts once its answer is out
  for (let time = 0; time < 4; time++) assert.equal(await scrape(), 40, 'whichever process is asked');
});

test('exactly the plan passes in a minute over all processes together', async () => {
  const ws = await beside.workspace({ plan: 'starter' });
  const answers = await inParallel(Array.from({ length: 100 }), 10, () =>
    service.request('GET', '/workspace', undefined, { key: ws.key, headers: once }),
  );
  const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
  assert.deepEqual([count(200), count(429)], [60, 40]);
});

test('a revoked key stops working in every process within 5 seconds', async () => {
  const ws = await beside.workspace();
  const revoked = await ws.makeKey();
  const statuses = (count: number) =>
    inParallel(Array.from({ length: count }), 4, async () => {
      const answer = await service.request('GET', '/workspace', undefined, { key: revoked, headers: once });
      return answer.status;
    });
  const { body } = await ws.request('GET', '/api_keys');
  const id = body.data.map(({ id }: { id: string }) => id).find((id: string) => id !== ws.keyId);
  assert.deepEqual(new Set(await statuses(8)), new Set([200]));
  await ws.request('DELETE', `/api_keys/${id}`);
  const deadline = performance.now() + 5_000;
  while (performance.now() < deadline) {
    await statuses(2); // in use all the time, in both
    await sleep(250);
  }
  assert.deepEqual(new Set(await statuses(8)), new Set([401]));
});

test('a process killed with -9 is replaced, and the other one serves meanwhile', async () => {
  const [victim, other] = (await bothServe()) as [number, number];
  process.kill(victim, 'SIGKILL');
  await gone(victim);
  await eventually(
    longMs,
    async () => {
      assert.equal((await fetch(`${service.origin}/healthz`, { headers: once })).status, 200);
      return serving();
    },
    ({ size }) => size === 3,
  );
  assert.ok(isAlive(other));
});

test('a stop ends them all', async () => {
  await stop(service);
  for (const { pid } of service.logs()) assert.ok(!isAlive(pid));
});
