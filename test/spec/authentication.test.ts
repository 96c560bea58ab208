import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  assertError,
  eventually,
  makeAgent,
  makeApiKey,
  makeContact,
  makeConversation,
  read,
  sendMessage,
} from '../factory.ts';
import { clientFor, startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();

const get = (headers: Record<string, string>) => service.request('GET', '/contacts', undefined, { headers });
const withKey = (key: string) => service.request('GET', '/contacts', undefined, { key });

test('a request with a valid key passes', async () => {
  assert.equal((await get({ authorization: `Bearer ${ws.key}` })).status, 200);
});

test('the scheme Bearer is taken in any case', async () => {
  assert.equal((await get({ authorization: `bearer ${ws.key}` })).status, 200);
});

const invalid: [why: string, headers: Record<string, string>][] = [
  ['no Authorization header', {}],
  ['an empty Authorization header', { authorization: '' }],
  ['a scheme without a key', { authorization: 'Bearer' }],
  ['the key without a scheme', { authorization: ws.key }],
  ['another scheme', { authorization: `Basic ${ws.key}` }],
  ['a key nobody has', { authorization: 'Bearer inbox_nonsense' }],
  ['a key with one character more', { authorization: `Bearer ${ws.key}x` }],
  ['a key with one character less', { authorization: `Bearer ${ws.key.slice(0, -1)}` }],
  ['a key in another case', { authorization: `Bearer ${ws.key.toUpperCase()}` }],
  ['two keys', { authorization: `Bearer ${ws.key} ${ws.key}` }],
  ['the id of a key', { authorization: `Bearer ${ws.keyId}` }],
  ['the key in another header', { 'x-api-key': ws.key }],
  ['a very long key', { authorization: `Bearer ${'x'.repeat(5000)}` }],
];

for (const [why, headers] of invalid) {
  test(`${why} answers 401 unauthorized`, async () => {
    assertError(await get(headers), 401);
  });
}

test('the key in the query string answers 401', async () => {
  assertError(await service.request('GET', `/contacts?api_key=${ws.key}&access_token=${ws.key}`), 401);
});

test('a 401 tells the scheme in WWW-Authenticate and changes nothing', async () => {
  const answer = await service.request('POST', '/contacts', { name: 'Intruder' });
  assertError(answer, 401);
  assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer/);
  assert.deepEqual(await read(ws, '/contacts?q=Intruder'), []);
});

test('a key that lacks permission for the action answers 403 forbidden', async () => {
  const key = await ws.makeKey({ scopes: ['contacts:read'] });
  assertError(await service.request('POST', '/contacts', { name: 'Ada' }, { key }), 403);
});

test('a key of one workspace never sees another', async () => {
  const other = await service.workspace();
  const theirs = await makeContact(other, { name: 'Theirs' });
  await makeConversation(other, { contact_id: theirs.id });
  const mine = await service.workspace();
  for (const path of ['/contacts', '/conversations', '/channels'])
    assert.deepEqual(await read(mine, path), []);
  assertError(await mine.request('GET', `/contacts/${theirs.id}`), 404);
});

test('a key holds at least 128 random bits and no two are alike', async () => {
  const keys = [await makeApiKey(ws), await makeApiKey(ws), await makeApiKey(ws)].map(({ key }) => key);
  assert.equal(new Set(keys).size, 3);
  for (const key of keys) assert.match(key, /^inbox_[\w-]{43}$/); // 256 bits
});

test('a key is shown once, on create', async () => {
  const { id, key } = await makeApiKey(ws);
  for (const path of [`/api_keys/${id}`, '/api_keys?per_page=100']) {
    const { text } = await ws.request('GET', path);
    assert.equal(text.includes(key), false);
    assert.equal(text.includes('"key"'), false);
  }
});

test('a key is stored only as a hash', async () => {
  const { key } = await makeApiKey(ws);
  const rows = await service.sql<{ row: string }>(`select to_jsonb(k)::text as row from api_keys k`);
  const dump = rows.map(({ row }) => row).join();
  for (const clear of [key, key.slice('inbox_'.length)]) {
    assert.equal(dump.includes(clear), false);
    assert.equal(dump.includes(Buffer.from(clear).toString('hex')), false);
  }
});

test('an expired key answers 401', async () => {
  const key = await ws.makeKey({ expiresAt: new Date(Date.now() - 1000).toISOString() });
  assertError(await withKey(key), 401);
});

test('a key that expires later works', async () => {
  const { key } = await makeApiKey(ws, { expires_at: '2099-01-01T00:00:00Z' });
  assert.equal((await withKey(key)).status, 200);
});

test('POST /api_keys with expires_at in the past answers 422', async () => {
  const body = { name: 'Late', expires_at: '2020-01-01T00:00:00Z' };
  assertError(await ws.request('POST', '/api_keys', body), 422, 'expires_at');
});

test('a revoked key that this process has not seen answers 401 at once', async () => {
  const { id, key } = await makeApiKey(ws);
  assert.equal((await ws.request('DELETE', `/api_keys/${id}`)).status, 200);
  assertError(await withKey(key), 401);
});

test('a revoked key stays listed, with revoked true', async () => {
  const { id } = await makeApiKey(ws);
  await ws.request('DELETE', `/api_keys/${id}`);
  assert.equal((await read(ws, `/api_keys/${id}`)).revoked, true);
});

test('what a key sent stays when it is revoked, with its name', async () => {
  const { id, key } = await makeApiKey(ws, { name: 'Old bot' });
  const conversation = await makeConversation(ws);
  await sendMessage({ request: clientFor(service.baseUrl, key) }, conversation.id, { content: 'Hello' });
  await ws.request('DELETE', `/api_keys/${id}`);
  const [message] = await read(ws, `/conversations/${conversation.id}/messages`);
  assert.deepEqual(message.sender, { type: 'bot', id, name: 'Old bot' });
});

test('the use of a key is seen in last_used_at', async () => {
  const { id, key } = await makeApiKey(ws);
  await withKey(key);
  const used = await eventually(
    5_000,
    () => read(ws, `/api_keys/${id}`),
    ({ last_used_at }) => last_used_at !== null,
  );
  assert.ok(Math.abs(Date.parse(used.last_used_at) - Date.now()) < 60_000);
});

describe('what a process knows of a key is at most 5 seconds old', { concurrency: true }, () => {
  test('a revoked key that is in use stops working in every process within 5 seconds', async () => {
    const other = await startService({ url: service.databaseUrl });
    const { id, key } = await makeApiKey(ws);
    const clients = [clientFor(service.baseUrl, key), clientFor(other.baseUrl, key)];
    for (const request of clients) assert.equal((await request('GET', '/contacts')).status, 200);
    await ws.request('DELETE', `/api_keys/${id}`);
    const stops = (request: (typeof clients)[0]) =>
      eventually(
        5_000,
        () => request('GET', '/contacts'),
        ({ status }) => status === 401,
      );
    await Promise.all(clients.map(stops));
  });

  test('a key that is in use stops working at the moment it expires', async () => {
    const expiresAt = Date.now() + 1_500;
    const key = await ws.makeKey({ expiresAt: new Date(expiresAt).toISOString() });
    assert.equal((await withKey(key)).status, 200);
    await eventually(
      3_000,
      () => withKey(key),
      ({ status }) => status === 401,
    );
    assert.ok(Date.now() >= expiresAt - 50, 'not before');
  });

  test('the agent a key stands for has its new name within 5 seconds', async () => {
    const agent = await makeAgent(ws, { name: 'Before' });
    const { key } = await makeApiKey(ws, { agent_id: agent.id });
    const graces = { request: clientFor(service.baseUrl, key) };
    const conversation = await makeConversation(ws);
    await sendMessage(graces, conversation.id, { content: 'Hello' });
    await ws.request('PATCH', `/agents/${agent.id}`, { name: 'After' });
    await eventually(
      5_000,
      () => sendMessage(graces, conversation.id, { content: 'Hello' }),
      ({ sender }) => sender.name === 'After',
    );
  });
});
