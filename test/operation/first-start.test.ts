import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import test from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { createDatabase } from '../harness.ts';
import {
  type Child,
  external,
  launch,
  postmasterPid,
  ready,
  refused,
  start,
  stop,
  temporaryDataDir,
} from './child.ts';

const operatorsKey = 'a-key-of-the-operator';

const curlLine = (child: Child) => /^curl .*$/m.exec(child.stdout())?.[0];
const keyIn = (text: string | undefined) => /Bearer (inbox_[\w-]+)/.exec(text ?? '')?.[1];

/** As if pasted into a terminal. */
async function paste(line: string, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { env: { ...process.env, ...env } });
  return stdout;
}

const hasCurl = (() => {
  try {
    execFileSync('curl', ['--version']);
    return true;
  } catch {
    return false;
  }
})();

async function workspacesIn(databaseUrl: string): Promise<string[]> {
  const sql = new pg.Client({ connectionString: databaseUrl });
  await sql.connect();
  try {
    const { rows } = await sql.query<{ name: string }>('select name from workspaces');
    return rows.map(({ name }) => name);
  } finally {
    await sql.end();
  }
}

test('a first start that fails on a taken port keeps no key back: the next one prints it, once, and no other does', async (t) => {
  const dataDir = temporaryDataDir();
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const line = await refused({ INBOX_DATA_DIR: dataDir, PORT: String(port) }, 1);
  assert.equal(line, `inbox: Port ${port} on 127.0.0.1 is taken: stop what uses it, or set PORT`);
  assert.equal(await postmasterPid(dataDir), undefined, 'its PostgreSQL went with it');
  taken.close();

  const first = await start({ INBOX_DATA_DIR: dataDir, PORT: String(port) });
  assert.equal(first.stdout().trim().split('\n').at(-1), `inbox ready on http://127.0.0.1:${port}/v1`);
  const key = keyIn(curlLine(first))!;
  assert.equal(first.stdout().split(key).length, 2, 'the key stands there once');
  assert.ok(!first.stderr().includes(key));

  const get = async (path: string) => (await first.request('GET', path, undefined, { key })).body.data;
  const workspace = await get('/workspace');
  assert.deepEqual([workspace.name, workspace.plan], ['Demo', 'business']);
  assert.deepEqual(
    (await get('/channels')).map(({ type }: { type: string }) => type),
    ['api'],
  );
  assert.equal((await get('/agents')).length, 2);
  assert.equal((await get('/teams')).length, 1);
  assert.deepEqual(
    (await get('/templates')).map(({ status }: { status: string }) => status),
    ['approved'],
  );
  assert.equal((await get('/api_keys')).length, 1);
  if (hasCurl) {
    const { data } = JSON.parse(await paste(curlLine(first)!));
    assert.equal(data.message.content, 'Hello!');
    assert.equal((await get('/conversations')).length, 1);
  } else t.diagnostic('there is no curl here to paste the line into');
  await stop(first);

  const second = await start({ INBOX_DATA_DIR: dataDir, PORT: String(port) });
  assert.equal(second.stdout(), `inbox ready on http://127.0.0.1:${port}/v1\n`);
  assert.equal((await second.request('GET', '/workspace', undefined, { key })).status, 200);
  await stop(second);
});

test('INBOX_API_KEY becomes the first key and is not repeated; changed later, it opens the same workspace', async () => {
  const databaseUrl = await createDatabase({ empty: true });
  const first = await start({ ...external(databaseUrl), INBOX_API_KEY: operatorsKey });
  assert.ok(!first.stdout().includes(operatorsKey));
  if (hasCurl) {
    const { data } = JSON.parse(await paste(curlLine(first)!, { INBOX_API_KEY: operatorsKey }));
    assert.equal(data.message.content, 'Hello!');
  }
  const workspace = await first.request('GET', '/workspace', undefined, { key: operatorsKey });
  assert.equal(workspace.status, 200);
  await stop(first);

  const another = 'another-key-of-the-operator';
  const second = await start({ ...external(databaseUrl), INBOX_API_KEY: another });
  assert.equal(curlLine(second), undefined);
  for (const key of [operatorsKey, another]) {
    assert.deepEqual((await second.request('GET', '/workspace', undefined, { key })).body, workspace.body);
  }
  await stop(second);
});

test('on an external database without INBOX_API_KEY no workspace is made; the log says how to make one', async () => {
  const databaseUrl = await createDatabase({ empty: true });
  const service = await start(external(databaseUrl));
  assert.equal(service.stdout(), `inbox ready on ${service.baseUrl}\n`);
  assert.deepEqual(await workspacesIn(databaseUrl), []);
  assert.ok(service.logs().some(({ msg }) => msg.includes('npm run inbox -- workspace create')));
  assert.equal((await service.request('GET', '/workspace')).status, 401);
  assert.equal((await fetch(`${service.origin}/readyz`)).status, 200);
  await stop(service);
});

test('two services that start at once on an empty external database both come up, on one workspace', async () => {
  const databaseUrl = await createDatabase({ empty: true });
  const env = { ...external(databaseUrl), INBOX_API_KEY: operatorsKey };
  const both = await Promise.all([start(env), start(env)]);
  for (const service of both) {
    assert.equal((await service.request('GET', '/workspace', undefined, { key: operatorsKey })).status, 200);
  }
  assert.deepEqual(await workspacesIn(databaseUrl), ['Demo']);
  await Promise.all(both.map(stop));
});

test('two services that start at once in an empty data directory share one PostgreSQL; the last one stops it', async () => {
  const dataDir = temporaryDataDir();
  const both = await Promise.all(
    [launch({ INBOX_DATA_DIR: dataDir }), launch({ INBOX_DATA_DIR: dataDir })].map(ready),
  );
  const keys = both
    .map(curlLine)
    .map(keyIn)
    .filter((key) => key !== undefined);
  assert.equal(keys.length, 1, 'one of them printed the key');
  const [key] = keys;
  for (const service of both) {
    assert.equal((await service.request('GET', '/workspace', undefined, { key })).status, 200);
  }
  const [one, other] = both as [(typeof both)[0], (typeof both)[0]];
  const postgres = await postmasterPid(dataDir);
  await stop(one);
  assert.equal(await postmasterPid(dataDir), postgres);
  assert.equal((await other.request('GET', '/workspace', undefined, { key })).status, 200);
  await stop(other);
  assert.equal(await postmasterPid(dataDir), undefined);
});
