import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import pg from 'pg';
import { assertError, eventually } from '../factory.ts';
import { atEnd, createDatabase } from '../harness.ts';
import { external, longMs, start, stop } from './child.ts';
import { failing } from './proxy.ts';

const databaseUrl = await createDatabase();
const sql = new pg.Client({ connectionString: databaseUrl });
await sql.connect();
atEnd(() => sql.end());
const database = await failing(databaseUrl);
const key = 'a-key-of-the-operator';
const service = await start({ ...external(database.url), INBOX_API_KEY: key });

const ask = (path: string) => fetch(`${service.origin}${path}`);
const write = (as = key) => service.request('POST', '/contacts', { name: 'Ada' }, { key: as });
const read = () => service.request('GET', '/contacts', undefined, { key });

const endSessions = () =>
  sql.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`);

afterEach(() => database.resume());

/** A request and readiness succeed again, with the whole minute's requests to spare. */
async function recovered(): Promise<void> {
  await sql.query('delete from rate_windows');
  await eventually(longMs, write, ({ status }) => status === 201);
  await eventually(
    longMs,
    () => ask('/readyz'),
    ({ status }) => status === 200,
  );
}

test('while the database is away requests fail as JSON, /readyz says so, /healthz and /metrics do not mind', async () => {
  await recovered();
  assert.deepEqual(await (await ask('/readyz')).json(), { status: 'ready' });
  await database.stop();
  for (let count = 0; count < 5; count++) {
    assertError(await write(), 500);
    assertError(await read(), 500);
    const notReady = await ask('/readyz');
    assert.equal(notReady.status, 503);
    assert.deepEqual(await notReady.json(), { status: 'not ready', reason: 'the database does not answer' });
    assert.equal((await ask('/healthz')).status, 200);
    assert.equal((await ask('/metrics')).status, 200);
  }
  await database.resume();
  await recovered();
});

test('a database that takes everything and answers nothing holds no request for long', async () => {
  await recovered();
  database.freeze();
  const begun = performance.now();
  const took = async (answer: Promise<{ status: number }>) => {
    const { status } = await answer;
    return { status, ms: performance.now() - begun };
  };
  const [ready, health, ...answers] = await Promise.all([
    took(ask('/readyz')),
    took(ask('/healthz')),
    ...Array.from({ length: 4 }, () => took(write())),
    ...Array.from({ length: 4 }, () => took(read())),
    took(write('a-key-not-seen-before')),
  ]);
  assert.equal(health.status, 200);
  assert.equal(ready.status, 503);
  assert.ok(ready.ms < 4_500, `/readyz took ${ready.ms} ms`);
  for (const { status, ms } of answers) {
    assert.equal(status, 500);
    assert.ok(ms < 9_000, `a request took ${ms} ms: one deadline is 5 s`);
  }
  await database.resume();
  await recovered();
});

test('a session that the database ends is not noticed by those who read', async () => {
  await recovered();
  let done = false;
  const statuses = new Set<number>();
  const load = Array.from({ length: 4 }, async () => {
    while (!done) statuses.add((await read()).status);
  });
  for (let round = 0; round < 10; round++) {
    await sql.query('delete from rate_windows');
    await endSessions();
    await eventually(longMs, read, ({ status }) => status === 200);
  }
  done = true;
  await Promise.all(load);
  assert.deepEqual([...statuses], [200]);
});

test('sessions ended by the database during load: the process lives and goes on by itself', async () => {
  await recovered();
  let done = false;
  const statuses = new Set<number>();
  const load = Array.from({ length: 4 }, async () => {
    while (!done) statuses.add((await write()).status);
  });
  for (let round = 0; round < 10; round++) {
    await endSessions();
    await eventually(longMs, read, ({ status }) => [200, 429].includes(status));
  }
  done = true;
  await Promise.all(load);
  for (const status of statuses) assert.ok([201, 429, 500].includes(status), String(status));
  await recovered();
});

test('through all of it one process has run, logged nothing but JSON, and stops cleanly', async () => {
  await stop(service);
  for (const line of service.stderr().trim().split('\n')) {
    const { pid, level } = JSON.parse(line);
    assert.equal(pid, service.pid);
    assert.notEqual(level, 60, line);
  }
});
