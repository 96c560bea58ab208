import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { cliOn, inbox, onDatabase, type Ran } from '../../test/cli.ts';
import { createDatabase } from '../../test/harness.ts';
import type { Check } from './doctor/check.ts';
import { checkNode } from './doctor/machine.ts';

const statusOf = ({ json }: Ran, name: string) =>
  (json.checks as Check[]).find((check) => check.name === name)?.status;

test('a sound installation: every check is ok and the exit code 0', async () => {
  const cli = cliOn(await createDatabase());
  await cli('workspace', 'create', '--name', 'W');
  const ran = await cli('doctor', '--json');
  assert.equal(ran.code, 0, ran.stdout);
  assert.equal(ran.stderr, '');
  assert.equal(ran.json.ok, true);
  const names =
    'node,config,data directory,database,server version,durability,extensions,clock,migrations,secret key,totals';
  assert.equal(ran.json.checks.map(({ name }: Check) => name).join(), names);
  for (const { name, status, detail } of ran.json.checks) {
    assert.equal(status, 'ok', `${name}: ${detail}`);
    assert.equal(typeof detail, 'string');
  }
  const { stdout } = await cli('doctor');
  assert.match(stdout, /^ok  node +\d+.*\nok  config/);
});

test('a database that is not migrated fails, says what to do, and stays as it is', async () => {
  const url = await createDatabase({ empty: true });
  const ran = await cliOn(url)('doctor', '--json');
  assert.equal(ran.code, 1);
  assert.equal(ran.json.ok, false);
  assert.equal(statusOf(ran, 'migrations'), 'fail');
  assert.equal(statusOf(ran, 'extensions'), 'warn');
  assert.match(ran.stdout, /run migrate/);
  assert.match(ran.stderr, /^inbox: 1 of \d+ checks failed\n$/);
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(
    `select relname from pg_class where relnamespace = 'public'::regnamespace`,
  );
  await client.end();
  assert.deepEqual(rows, []);
});

test('another secret key than the database’s fails', async () => {
  const url = await createDatabase();
  await cliOn(url)('workspace', 'list');
  const ran = await inbox(['doctor', '--json'], {
    ...onDatabase(url),
    INBOX_SECRET_KEY: 'some other key of thirty-two characters',
  });
  assert.equal(ran.code, 1);
  assert.equal(statusOf(ran, 'secret key'), 'fail');
});

test('a server that may lose writes fails', async () => {
  const url = await createDatabase();
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`alter database ${client.database} set synchronous_commit = off`);
  await client.end();
  const ran = await cliOn(url)('doctor', '--json');
  assert.equal(ran.code, 1);
  assert.equal(statusOf(ran, 'durability'), 'fail');
});

test('a configuration that cannot be read, and a database that cannot be reached, are checks that fail', async () => {
  const config = await inbox(['doctor', '--json'], { PORT: 'many' });
  assert.equal(config.code, 1);
  assert.equal(statusOf(config, 'config'), 'fail');
  assert.match(config.stdout, /PORT/);
  const nowhere = await cliOn('postgresql://inbox@127.0.0.1:1/inbox')('doctor', '--json');
  assert.equal(nowhere.code, 1);
  assert.equal(statusOf(nowhere, 'database'), 'fail');
});

test('before the first start of the embedded database it only warns, and creates nothing', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'inbox-doctor-'));
  const ran = await inbox(['doctor', '--json'], { INBOX_DATA_DIR: join(dataDir, 'data') });
  assert.equal(ran.code, 0);
  assert.equal(statusOf(ran, 'database'), 'warn');
  assert.equal(statusOf(ran, 'data directory'), 'ok');
  assert.deepEqual(await readdir(dataDir), []);
  await rm(dataDir, { recursive: true });
});

test('a Node that is too old fails', () => {
  assert.equal(checkNode('24.11.9').status, 'fail');
  assert.equal(checkNode('20.20.2').status, 'fail');
  assert.equal(checkNode('24.12.0').status, 'ok');
  assert.equal(checkNode('26.0.0').status, 'ok');
});
