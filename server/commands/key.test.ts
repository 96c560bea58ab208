import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cliOn } from '../../test/cli.ts';
import { clientFor, createDatabase, startService } from '../../test/harness.ts';
import { scopes as allScopes } from '../http/scopes.ts';
import { expiryValue } from './expiry.ts';

const hourMs = 3_600_000;

test('key create prints the key once; it opens the running service and has all scopes', async () => {
  const service = await startService();
  const workspace = await service.workspace();
  const { code, stdout, json } = await cliOn(service.databaseUrl)(
    'key',
    'create',
    '--name',
    'Shop',
    '--json',
  );
  assert.equal(code, 0);
  assert.equal(stdout.trim().split('\n').length, 1);
  const { key, ...resource } = json;
  const seen = await workspace.request('GET', `/api_keys/${json.id}`);
  assert.deepEqual(resource, seen.body.data);
  assert.deepEqual(resource.scopes, allScopes);
  assert.equal(resource.expires_at, null);
  const answer = await clientFor(service.baseUrl, key)('POST', '/contacts', { name: 'Mia' });
  assert.equal(answer.status, 201);
});

test('--scopes limits the key to those', async () => {
  const service = await startService();
  const { id } = await service.workspace();
  const { json } = await cliOn(service.databaseUrl)(
    'key',
    'create',
    '--workspace',
    id,
    '--name',
    'k',
    '--scopes',
    'messages:read, contacts:read',
    '--json',
  );
  assert.deepEqual(json.scopes, ['messages:read', 'contacts:read']);
  const request = clientFor(service.baseUrl, json.key);
  assert.equal((await request('GET', '/contacts')).status, 200);
  assert.equal((await request('POST', '/contacts', { name: 'Mia' })).status, 403);
});

test('--agent makes the key speak as that agent; an unknown agent is exit 1', async () => {
  const service = await startService();
  const { id, request } = await service.workspace();
  const cli = cliOn(service.databaseUrl);
  const agent = (await cli('agent', 'create', '--name', 'Ada', '--json')).json;
  const { json } = await cli(
    'key',
    'create',
    '--workspace',
    id,
    '--name',
    'k',
    '--agent',
    agent.id,
    '--json',
  );
  assert.equal(json.agent_id, agent.id);
  assert.equal((await request('GET', `/api_keys/${json.id}`)).body.data.agent_id, agent.id);

  const unknown = await cli(
    'key',
    'create',
    '--name',
    'k',
    '--agent',
    'usr_01kcq2zzzzzzzzzzzzzzzzzzzz',
    '--json',
  );
  assert.deepEqual({ code: unknown.code, stdout: unknown.stdout }, { code: 1, stdout: '' });
  assert.match(unknown.stderr, /^inbox: There is no agent usr_/);
});

test('--expires takes a duration or a timestamp', async () => {
  const cli = cliOn(await createDatabase());
  await cli('workspace', 'create', '--name', 'W');
  const inTwelveHours = (await cli('key', 'create', '--name', 'k', '--expires', '12h', '--json')).json;
  const lasts = Date.parse(inTwelveHours.expires_at) - Date.parse(inTwelveHours.created_at);
  assert.ok(Math.abs(lasts - 12 * hourMs) < 1_000, String(lasts));
  const at = (await cli('key', 'create', '--name', 'k', '--expires', '2090-02-28T10:00:00+02:00', '--json'))
    .json;
  assert.equal(at.expires_at, '2090-02-28T08:00:00.000Z');
});

test('a scope or an expiry that makes no sense is exit 2 and says what does', async () => {
  const cli = cliOn(await createDatabase());
  await cli('workspace', 'create', '--name', 'W');
  const scope = await cli(
    'key',
    'create',
    '--name',
    'k',
    '--scopes',
    'contacts:read,contacts:delete',
    '--json',
  );
  assert.deepEqual({ code: scope.code, stdout: scope.stdout }, { code: 2, stdout: '' });
  assert.match(scope.stderr, /--scopes.*"contacts:delete" is none of conversations:read, .*settings:write/);
  for (const when of ['soon', '2001-01-01']) {
    const expiry = await cli('key', 'create', '--name', 'k', '--expires', when);
    assert.equal(expiry.code, 2, when);
    assert.match(expiry.stderr, /--expires/);
  }
  for (const when of ['', '30', '0d', '-1d', '1.5h', '9999999y', '2090-02-30', '2090-01-01T10:00', '12:00']) {
    assert.throws(() => expiryValue(when), /must be a duration/, when);
  }
  assert.deepEqual((await cli('key', 'list', '--json')).json, { data: [] });
});

test('key list gives the keys of one workspace, newest first, without the keys themselves', async () => {
  const service = await startService();
  const { id, request } = await service.workspace();
  const cli = cliOn(service.databaseUrl);
  const made = (await cli('key', 'create', '--name', 'Zweiter', '--json')).json;
  await service.workspace({ name: 'Another' });
  const { json } = await cli('key', 'list', '--workspace', id, '--json');
  const { body } = await request('GET', '/api_keys');
  const unused = (key: object) => ({ ...key, last_used_at: null }); // asking has just used one
  assert.deepEqual(json.data, body.data.map(unused));
  assert.equal(json.data[0].id, made.id);
  assert.equal('key' in json.data[0], false);
  const { stdout } = await cli('key', 'list', '--workspace', id);
  assert.match(
    stdout,
    /^ID .*\nkey_\w+ +Zweiter +active +never +never +- +all\nkey_\w+ +Test key +active +never/,
  );
});

test('key revoke ends a key in the running service within five seconds', async () => {
  const service = await startService();
  await service.workspace();
  await service.workspace();
  const cli = cliOn(service.databaseUrl);
  const [workspace] = (await cli('workspace', 'list', '--json')).json.data;
  const { id, key } = (await cli('key', 'create', '--workspace', workspace.id, '--name', 'k', '--json')).json;
  const request = clientFor(service.baseUrl, key);
  assert.equal((await request('GET', '/workspace')).status, 200);

  const revoked = await cli('key', 'revoke', '--id', id, '--json');
  const deadline = Date.now() + 5_000;
  assert.equal(revoked.code, 0);
  assert.equal(revoked.json.id, id);
  assert.equal(revoked.json.revoked, true);
  while ((await request('GET', '/workspace')).status !== 401) {
    assert.ok(Date.now() < deadline, 'still valid after five seconds');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
});

test('key revoke with the wrong workspace, or an id that names no key, is exit 1 and changes nothing', async () => {
  const service = await startService();
  const { keyId } = await service.workspace();
  const other = await service.workspace();
  const cli = cliOn(service.databaseUrl);
  for (const args of [
    ['--id', keyId, '--workspace', other.id],
    ['--id', 'key_01kcq2zzzzzzzzzzzzzzzzzzzz'],
  ]) {
    const { code, stdout, stderr } = await cli('key', 'revoke', ...args, '--json');
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    assert.match(stderr, /^inbox: There is no key key_.*\n$/);
  }
  assert.deepEqual(await service.sql('select from api_keys where revoked'), []);
});

test('without --workspace the only one is meant; with several it is exit 2 and names the flag', async () => {
  const cli = cliOn(await createDatabase());
  const none = await cli('key', 'list', '--json');
  assert.equal(none.code, 2);
  assert.match(none.stderr, /workspace create/);
  await cli('workspace', 'create', '--name', 'One');
  assert.equal((await cli('key', 'list', '--json')).code, 0);
  await cli('workspace', 'create', '--name', 'Two');
  for (const command of [
    ['key', 'list'],
    ['key', 'create', '--name', 'k'],
    ['agent', 'create', '--name', 'a'],
    ['seed'],
  ]) {
    const { code, stdout, stderr } = await cli(...command, '--json');
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.match(stderr, /--workspace/);
  }
});
