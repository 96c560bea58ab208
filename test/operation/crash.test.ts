import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { assertError, eventually } from '../factory.ts';
import {
  gone,
  isAlive,
  longMs,
  postmasterPid,
  type Running,
  start,
  stop,
  temporaryDataDir,
} from './child.ts';

const dataDir = temporaryDataDir();
const key = 'a-key-of-the-operator';
const env = { INBOX_DATA_DIR: dataDir, INBOX_API_KEY: key };

/** Writes contacts until the service is gone. What it has acknowledged: id and name. */
async function writeUntilGone(service: Running, ledger: Map<string, string>): Promise<void> {
  for (;;) {
    const name = randomBytes(8).toString('hex');
    try {
      const { status, body, text } = await service.request('POST', '/contacts', { name }, { key });
      assert.equal(status, 201, text);
      ledger.set(body.data.id, name);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return; // no answer: it may be there or not
    }
  }
}

async function namesById(service: Running): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (let page = 1; ; page++) {
    const { body } = await service.request('GET', `/contacts?per_page=100&page=${page}`, undefined, { key });
    for (const { id, name } of body.data) names.set(id, name);
    if (page >= body.meta.total_pages) return names;
  }
}

test('kill -9 in the middle of writes loses nothing acknowledged, and the next start adopts the PostgreSQL', async () => {
  const service = await start(env);
  const postgres = await postmasterPid(dataDir);
  const ledger = new Map<string, string>();
  const writers = Array.from({ length: 8 }, () => writeUntilGone(service, ledger));
  await eventually(
    longMs,
    async () => ledger.size,
    (size) => size >= 200,
  );
  service.signal('SIGKILL');
  await Promise.all(writers);
  await service.ended;
  assert.ok(isAlive(postgres!), 'its PostgreSQL lives on');

  const next = await start(env);
  assert.equal(await postmasterPid(dataDir), postgres);
  const names = await namesById(next);
  for (const [id, name] of ledger) assert.equal(names.get(id), name);
  assert.ok(names.size <= ledger.size + writers.length, 'no more than the unanswered ones came on top');
  await stop(next);
  await gone(postgres!);
});

test('kill -9 of its PostgreSQL: JSON errors, then it goes on by itself and has lost nothing', async () => {
  const service = await start(env);
  const before = await namesById(service);
  const postgres = await postmasterPid(dataDir);
  process.kill(postgres!, 'SIGKILL');
  let slowestMs = 0;
  const acknowledged = new Map<string, string>();
  await eventually(
    longMs,
    async () => {
      const name = randomBytes(8).toString('hex');
      const begun = performance.now();
      const answer = await service.request('POST', '/contacts', { name }, { key });
      slowestMs = Math.max(slowestMs, performance.now() - begun);
      if (answer.status === 201) acknowledged.set(answer.body.data.id, name);
      else assertError(answer, 500);
      return (await postmasterPid(dataDir)) !== postgres && answer.status;
    },
    (status) => status === 201,
  );
  assert.ok(slowestMs < 6_000, `a request took ${slowestMs} ms`);
  const names = await namesById(service);
  for (const [id, name] of [...before, ...acknowledged]) assert.equal(names.get(id), name);
  assert.equal((await fetch(`${service.origin}/readyz`)).status, 200);
  await stop(service);
  assert.equal(await postmasterPid(dataDir), undefined);
});

test('kill -9 of the first of several processes ends the others, and the next start takes over', async () => {
  const service = await start({ ...env, INBOX_PROCESSES: '2' });
  const pids = await eventually(
    longMs,
    async () => new Set(service.logs().map(({ pid }) => pid)),
    ({ size }) => size >= 2, // log lines are held for a moment
  );
  service.signal('SIGKILL');
  for (const pid of pids) await gone(pid);
  const { port } = new URL(service.origin);
  const next = await start({ ...env, PORT: port });
  assert.equal((await next.request('GET', '/workspace', undefined, { key })).status, 200);
  await stop(next);
});
