import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { eventually, makeConversation, patchConversation, read } from '../factory.ts';
import { atEnd, createDatabase } from '../harness.ts';
import { external, longMs, type Running, start, stop } from './child.ts';

const databaseUrl = await createDatabase();
const sql = new pg.Client({ connectionString: databaseUrl });
await sql.connect();
atEnd(() => sql.end());
const key = 'a-key-of-the-operator';
const env = { ...external(databaseUrl), INBOX_API_KEY: key };
const api = await start({ ...env, INBOX_ROLE: 'api' });
const as = (service: Running) => ({
  request: ((method, path, body) => service.request(method, path, body, { key })) as typeof service.request,
});

const operations = async (service: Running) => {
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    assert.equal((await fetch(`${service.origin}${path}`)).status, 200, path);
  }
};

test('an api process serves requests and leaves the background work to a worker, which serves none', async () => {
  const { id } = await makeConversation(as(api));
  await patchConversation(as(api), id, { status: 'snoozed', snoozed_until: '2099-01-01T00:00:00.000Z' });
  await sql.query(`update conversations set snoozed_until = clock_timestamp() - interval '1 hour'`);
  const status = async () => (await read(as(api), `/conversations/${id}`)).status;
  await sleep(1_500); // three turns of the work that would reopen it
  assert.equal(await status(), 'snoozed');

  const worker = await start({ ...env, INBOX_ROLE: 'worker' });
  assert.equal(worker.stdout(), `inbox worker ready on ${worker.origin}\n`);
  await eventually(longMs, status, (now) => now === 'open');
  for (const path of ['/workspace', '/openapi.json', '/docs', '']) {
    assert.equal((await as(worker).request('GET', path)).status, 404, path);
  }
  await operations(worker);
  await stop(worker);
});

test('/readyz is 503 while the database lacks a migration', async () => {
  const ready = async () => (await fetch(`${api.origin}/readyz`)).status;
  const { rows } = await sql.query(
    'delete from schema_migrations where version = (select max(version) from schema_migrations) returning *',
  );
  assert.equal(await ready(), 503);
  const { version, name } = rows[0];
  await sql.query('insert into schema_migrations (version, name) values ($1, $2)', [version, name]);
  assert.equal(await ready(), 200);
});

// Read from /proc, which only Linux has.
if (process.platform === 'linux') {
  test('a process at rest stays under 200 MB', async (t) => {
    await operations(api);
    const kB = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${api.pid}/status`, 'utf8'))?.[1]);
    t.diagnostic(`${Math.round(kB / 1000)} MB`);
    assert.ok(kB < 200_000, `${kB} kB`);
  });
}
