import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startService } from '../../test/harness.ts';
import { scopes as allScopes } from '../http/scopes.ts';
import { newUuid, toId } from '../ids.ts';

const service = await startService();
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();

test('POST /api_keys answers 201 with a key that works and is never shown again', async () => {
  const ws = await service.workspace();
  const made = await ws.request('POST', '/api_keys', {
    name: 'CI',
    scopes: ['contacts:read', 'settings:read'],
  });
  assert.equal(made.status, 201);
  const { key, ...shown } = made.body.data;
  assert.match(key, /^inbox_[\w-]{43}$/);
  assert.deepEqual(shown, {
    id: shown.id,
    name: 'CI',
    scopes: ['contacts:read', 'settings:read'],
    agent_id: null,
    expires_at: null,
    last_used_at: null,
    revoked: false,
    created_at: shown.created_at,
  });
  assert.match(shown.id, /^key_/);
  const read = await ws.request('GET', `/api_keys/${shown.id}`, undefined, { key });
  assert.equal(read.status, 200);
  assert.equal('key' in read.body.data, false);
  const everything =
    (await ws.request('GET', '/api_keys')).text + (await ws.request('GET', `/api_keys/${shown.id}`)).text;
  assert.equal(everything.includes(key), false);
  assert.equal((await ws.request('POST', '/contacts', { name: 'Ada' }, { key })).status, 403);
});

test('only the hash of a key is stored', async () => {
  const ws = await service.workspace();
  const { key } = (await ws.request('POST', '/api_keys', { name: 'CI' })).body.data;
  const [found] = await service.sql<{ n: number }>(
    `select count(*) as n from api_keys k where workspace_id = $1 and to_jsonb(k)::text like '%' || $2 || '%'`,
    [ws.uuid, key],
  );
  assert.equal(found?.n, 0);
});

test('POST /api_keys repeated with its Idempotency-Key answers the same key and creates one', async () => {
  const ws = await service.workspace();
  const headers = { 'idempotency-key': 'once' };
  const first = await ws.request('POST', '/api_keys', { name: 'CI' }, { headers });
  const second = await ws.request('POST', '/api_keys', { name: 'CI' }, { headers });
  assert.deepEqual(second.body, first.body);
  assert.equal((await ws.request('GET', '/api_keys')).body.meta.total, 2);
});

test('GET /api_keys lists newest first, revoked ones too, of this workspace only', async () => {
  const ws = await service.workspace();
  const first = (await ws.request('POST', '/api_keys', { name: 'first' })).body.data;
  const second = (await ws.request('POST', '/api_keys', { name: 'second' })).body.data;
  await ws.request('DELETE', `/api_keys/${first.id}`);
  await service.workspace();
  const { body } = await ws.request('GET', '/api_keys?per_page=2');
  assert.deepEqual(
    body.data.map(({ id, revoked }: { id: string; revoked: boolean }) => [id, revoked]),
    [
      [second.id, false],
      [first.id, true],
    ],
  );
  assert.deepEqual(body.meta, { total: 3, page: 1, per_page: 2, total_pages: 2 });
});

test('without scopes a new key gets all the caller has, and no more', async () => {
  const ws = await service.workspace();
  const all = await ws.request('POST', '/api_keys', { name: 'all' });
  assert.deepEqual(all.body.data.scopes, [...allScopes]);
  const key = await ws.makeKey({ scopes: ['settings:write', 'contacts:read'] });
  const some = await ws.request('POST', '/api_keys', { name: 'some' }, { key });
  assert.deepEqual(some.body.data.scopes, ['contacts:read', 'settings:write']);
});

test('a key cannot give scopes it lacks: 403 naming them', async () => {
  const ws = await service.workspace();
  const key = await ws.makeKey({ scopes: ['settings:write'] });
  const wanted = ['settings:write', 'webhooks:write', 'messages:write'];
  const { status, body } = await ws.request('POST', '/api_keys', { name: 'more', scopes: wanted }, { key });
  assert.equal(status, 403);
  assert.equal(body.error.code, 'forbidden');
  assert.match(body.error.message, /messages:write, webhooks:write/);
  assert.doesNotMatch(body.error.message, /settings:write/);
  assert.equal((await ws.request('GET', '/api_keys')).body.meta.total, 2);
});

test('a scope that does not exist is 400, no scope at all 422, and one named twice counts once', async () => {
  const ws = await service.workspace();
  const post = (scopes: unknown) => ws.request('POST', '/api_keys', { name: 'CI', scopes });
  assert.equal((await post(['everything'])).status, 400);
  assert.equal((await post('contacts:read')).status, 400);
  assert.equal((await post([])).status, 422);
  assert.deepEqual((await post(['contacts:read', 'contacts:read'])).body.data.scopes, ['contacts:read']);
});

test('name is required (400) and not blank (422)', async () => {
  const ws = await service.workspace();
  assert.equal((await ws.request('POST', '/api_keys', {})).status, 400);
  assert.equal((await ws.request('POST', '/api_keys', { name: ' ' })).status, 422);
});

test('agent_id must be a live agent of this workspace, else 422', async () => {
  const [ws, other] = await Promise.all([service.workspace(), service.workspace()]);
  const agentIn = async (where: typeof ws) =>
    (await where.request('POST', '/agents', { name: 'Ada' })).body.data.id;
  const [mine, foreign, archived] = [await agentIn(ws), await agentIn(other), await agentIn(ws)];
  await ws.request('DELETE', `/agents/${archived}`);
  for (const agent_id of [foreign, archived, 'usr_nonsense', toId('agent', newUuid())]) {
    const answer = await ws.request('POST', '/api_keys', { name: 'Ada', agent_id });
    assert.equal(answer.status, 422);
    assert.equal(answer.body.error.details[0].field, 'agent_id');
  }
  assert.equal(
    (await ws.request('POST', '/api_keys', { name: 'Ada', agent_id: mine })).body.data.agent_id,
    mine,
  );
  assert.equal(
    (await ws.request('POST', '/api_keys', { name: 'Bot', agent_id: null })).body.data.agent_id,
    null,
  );
});

const notToCome = [
  '2020-01-01T00:00:00.000Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59-10:00',
  '2016-12-31T23:59:60Z',
  '2099-01-01',
  '2099-02-30T00:00:00Z',
  'tomorrow',
  '',
];

test('expires_at must be a time to come, else 422', async () => {
  const ws = await service.workspace();
  const { id } = (await ws.request('POST', '/api_keys', { name: 'CI' })).body.data;
  for (const expires_at of notToCome) {
    for (const [method, path] of [
      ['POST', '/api_keys'],
      ['PATCH', `/api_keys/${id}`],
    ] as const) {
      const answer = await ws.request(method, path, { name: 'CI', expires_at });
      assert.equal(answer.status, 422, `${method} ${expires_at}`);
      assert.equal(answer.body.error.details[0].field, 'expires_at');
    }
  }
  assert.equal((await ws.request('POST', '/api_keys', { name: 'CI', expires_at: 5 })).status, 400);
  const made = await ws.request('POST', '/api_keys', { name: 'CI', expires_at: '2099-01-01T02:00:00+02:00' });
  assert.equal(made.body.data.expires_at, '2099-01-01T00:00:00.000Z');
});

test('a key stops working when it expires', async () => {
  const ws = await service.workspace();
  const expires_at = new Date(Date.now() + 1_000).toISOString();
  const { key } = (await ws.request('POST', '/api_keys', { name: 'short', expires_at })).body.data;
  assert.equal((await ws.request('GET', '/workspace', undefined, { key })).status, 200);
  await sleep(1_100);
  assert.equal((await ws.request('GET', '/workspace', undefined, { key })).status, 401);
});

test('PATCH /api_keys/{id} changes the name or the expiry and nothing else', async () => {
  const ws = await service.workspace();
  const { key: _, ...before } = (await ws.request('POST', '/api_keys', { name: 'CI' })).body.data;
  const path = `/api_keys/${before.id}`;
  const renamed = await ws.request('PATCH', path, { name: 'Build' });
  assert.deepEqual(renamed.body.data, { ...before, name: 'Build' });
  const expires_at = tomorrow();
  assert.deepEqual((await ws.request('PATCH', path, { expires_at })).body.data, {
    ...before,
    name: 'Build',
    expires_at,
  });
  const unset = await ws.request('PATCH', path, { expires_at: null });
  assert.deepEqual(unset.body.data, { ...before, name: 'Build' });
  const back = await ws.request('PATCH', path, unset.body.data);
  assert.equal(back.status, 200, 'what was read can be sent back');
  assert.deepEqual(back.body, unset.body);
});

test('scopes, agent_id and revoked of a key cannot be changed: 422', async () => {
  const ws = await service.workspace();
  const agent = (await ws.request('POST', '/agents', { name: 'Ada' })).body.data;
  const { id } = (await ws.request('POST', '/api_keys', { name: 'CI', scopes: ['contacts:read'] })).body.data;
  for (const change of [{ scopes: [...allScopes] }, { agent_id: agent.id }, { revoked: true }]) {
    const answer = await ws.request('PATCH', `/api_keys/${id}`, { name: 'New', ...change });
    assert.equal(answer.status, 422);
    assert.equal(answer.body.error.details[0].field, Object.keys(change)[0]);
  }
  assert.equal((await ws.request('GET', `/api_keys/${id}`)).body.data.name, 'CI');
});

test('a key cannot lengthen the life of a key with scopes it lacks: 403', async () => {
  const ws = await service.workspace();
  const strong = (await ws.request('POST', '/api_keys', { name: 'strong', expires_at: tomorrow() })).body
    .data;
  const key = await ws.makeKey({ scopes: ['settings:write'] });
  const path = `/api_keys/${strong.id}`;
  assert.equal((await ws.request('PATCH', path, { expires_at: null }, { key })).status, 403);
  assert.equal((await ws.request('PATCH', path, { name: 'still strong' }, { key })).status, 200);
  assert.equal((await ws.request('GET', path)).body.data.expires_at, strong.expires_at);
});

test('DELETE /api_keys/{id} revokes: the key is refused, stays listed, and cannot come back', async () => {
  const ws = await service.workspace();
  const { id, key } = (await ws.request('POST', '/api_keys', { name: 'CI' })).body.data;
  for (let time = 1; time <= 2; time++) {
    const answer = await ws.request('DELETE', `/api_keys/${id}`);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, { data: { id, revoked: true } });
  }
  assert.equal((await ws.request('GET', '/workspace', undefined, { key })).status, 401);
  assert.equal((await ws.request('GET', `/api_keys/${id}`)).body.data.revoked, true);
  assert.equal((await ws.request('PATCH', `/api_keys/${id}`, { revoked: false })).status, 422);
});

test('a key in use stops working within five seconds of being revoked', async () => {
  const ws = await service.workspace();
  const { id, key } = (await ws.request('POST', '/api_keys', { name: 'CI' })).body.data;
  assert.equal((await ws.request('GET', '/workspace', undefined, { key })).status, 200);
  await ws.request('DELETE', `/api_keys/${id}`);
  const deadline = performance.now() + 5_000;
  while ((await ws.request('GET', '/workspace', undefined, { key })).status !== 401) {
    assert.ok(performance.now() < deadline, 'still accepted after five seconds');
    await sleep(100);
  }
});

test('a foreign, a malformed and a missing id answer the same 404, and nothing is revoked', async () => {
  const [ws, other] = await Promise.all([service.workspace(), service.workspace()]);
  const answers = new Set<string>();
  for (const id of [other.keyId, 'nonsense', toId('key', newUuid())]) {
    for (const [method, sent] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const) {
      const answer = await ws.request(method, `/api_keys/${id}`, sent, {
        headers: { 'x-request-id': 'same' },
      });
      assert.equal(answer.status, 404);
      assert.equal(answer.body.error.message, 'API key not found');
      answers.add(answer.text);
    }
  }
  assert.equal(answers.size, 1);
  assert.equal((await other.request('GET', `/api_keys/${other.keyId}`)).body.data.revoked, false);
});

test('/api_keys needs settings:read to read and settings:write to write', async () => {
  const ws = await service.workspace();
  const reader = await ws.makeKey({ scopes: ['settings:read'] });
  const writer = await ws.makeKey({ scopes: ['settings:write'] });
  const weak = await ws.request('POST', '/api_keys', { name: 'Weak', scopes: ['settings:write'] });
  for (const [method, path, sent, allowed, refused] of [
    ['GET', '/api_keys', undefined, reader, writer],
    ['GET', `/api_keys/${ws.keyId}`, undefined, reader, writer],
    ['POST', '/api_keys', { name: 'x' }, writer, reader],
    ['PATCH', `/api_keys/${ws.keyId}`, { name: 'x' }, writer, reader],
    ['DELETE', `/api_keys/${weak.body.data.id}`, undefined, writer, reader],
  ] as const) {
    assert.equal((await ws.request(method, path, sent, { key: refused })).status, 403, `${method} ${path}`);
    assert.ok((await ws.request(method, path, sent, { key: allowed })).status < 300, `${method} ${path}`);
  }
});

test('a workspace can have 500 keys that are not revoked', async () => {
  const ws = await service.workspace();
  await service.sql(
    `insert into api_keys (workspace_id, id, name, hash, scopes)
     select $1, gen_random_uuid(), 'filler', sha256(gen_random_uuid()::text::bytea), '{}' from generate_series(1, 498)`,
    [ws.uuid],
  );
  const both = await Promise.all([1, 2].map(() => ws.request('POST', '/api_keys', { name: 'last' })));
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 422],
  );
  const made = both.find(({ status }) => status === 201)!;
  await ws.request('DELETE', `/api_keys/${made.body.data.id}`);
  assert.equal((await ws.request('POST', '/api_keys', { name: 'again' })).status, 201);
});

test('a key cannot revoke one that has scopes it lacks, and can revoke itself', async () => {
  const ws = await service.workspace();
  const made = await ws.request('POST', '/api_keys', { name: 'Weak', scopes: ['settings:write'] });
  const { key, id } = made.body.data;
  const refused = await ws.request('DELETE', `/api_keys/${ws.keyId}`, undefined, { key });
  assert.equal(refused.status, 403);
  assert.equal((await ws.request('GET', `/api_keys/${ws.keyId}`)).body.data.revoked, false);
  assert.equal((await ws.request('DELETE', `/api_keys/${id}`, undefined, { key })).status, 200);
});
