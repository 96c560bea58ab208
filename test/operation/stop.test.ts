import assert from 'node:assert/strict';
import { connect } from 'node:net';
import test from 'node:test';
import pg from 'pg';
import { eventually } from '../factory.ts';
import { createDatabase } from '../harness.ts';
import {
  type Child,
  external,
  gone,
  launch,
  longMs,
  postmasterPid,
  start,
  stop,
  temporaryDataDir,
} from './child.ts';

const dataDir = temporaryDataDir();

/** Every process of the service that has logged something. */
const pidsOf = (child: Child) => [...new Set([child.pid, ...child.logs().map(({ pid }) => pid)])];

const ways: { name: string; npm?: boolean; env?: Record<string, string>; send: (child: Child) => void }[] = [
  { name: 'SIGTERM', send: (child) => child.signal('SIGTERM') },
  { name: 'SIGINT', send: (child) => child.signal('SIGINT') },
  { name: 'SIGTERM to npm start', npm: true, send: (child) => child.signal('SIGTERM') },
  { name: 'Ctrl-C in the terminal of npm start', npm: true, send: (child) => child.signalGroup('SIGINT') },
  {
    name: 'Ctrl-C in the terminal of npm start with two processes, twice',
    npm: true,
    env: { INBOX_PROCESSES: '2' },
    send: (child) => {
      child.signalGroup('SIGINT');
      child.signalGroup('SIGINT');
    },
  },
];

for (const { name, npm = false, env = {}, send } of ways) {
  test(`${name} ends the service and its PostgreSQL with exit code 0, and leaves nothing behind`, async () => {
    const service = await start({ INBOX_DATA_DIR: dataDir, ...env }, { npm });
    const postgres = await postmasterPid(dataDir);
    assert.ok(postgres);
    send(service);
    assert.deepEqual(await service.ended, { code: 0, signal: null }, service.stderr());
    assert.equal(await postmasterPid(dataDir), undefined, 'PostgreSQL has ended before the service has');
    for (const pid of [postgres, ...pidsOf(service)]) await gone(pid);
  });
}

test('a signal during the first start ends it cleanly, and the next start goes on from there', async () => {
  const fresh = temporaryDataDir();
  const service = launch({ INBOX_DATA_DIR: fresh });
  await eventually(
    longMs,
    async () => service.logs().some(({ msg }) => msg.startsWith('creating a database')),
    (seen) => seen,
  );
  service.signalGroup('SIGINT');
  assert.deepEqual(await service.ended, { code: 0, signal: null }, service.stderr());
  assert.equal(await postmasterPid(fresh), undefined);
  assert.equal(service.stdout(), '', 'no key was made that nobody could have read');
  const next = await start({ INBOX_DATA_DIR: fresh });
  assert.match(next.stdout(), /^curl /m);
  await stop(next);
});

const waitingForLock = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

for (const processes of ['1', '2']) {
  test(`a running request is finished and new connections are refused (INBOX_PROCESSES=${processes})`, async () => {
    const databaseUrl = await createDatabase();
    const key = 'a-key-of-the-operator';
    const service = await start({ ...external(databaseUrl), INBOX_API_KEY: key, INBOX_PROCESSES: processes });
    const contact = await service.request('POST', '/contacts', { name: 'Ada' }, { key });
    const sql = new pg.Client({ connectionString: databaseUrl });
    await sql.connect();
    try {
      await sql.query('begin');
      await sql.query('select 1 from contacts for update');
      const path = `/contacts/${contact.body.data.id}`;
      const slow = service.request('PUT', path, { name: 'Grace' }, { key });
      await eventually(
        longMs,
        async () => (await sql.query(waitingForLock)).rowCount,
        (waiting) => (waiting ?? 0) > 0,
      );
      service.signal('SIGTERM');
      await eventually(
        longMs,
        () => canConnect(service.origin),
        (can) => !can,
      );
      await sql.query('commit');
      const answer = await slow;
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.data.name, 'Grace');
      assert.deepEqual(await service.ended, { code: 0, signal: null }, service.stderr());
    } finally {
      await sql.end();
    }
  });
}

function canConnect(origin: string): Promise<boolean> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
