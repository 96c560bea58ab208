import assert from 'node:assert/strict';
import test from 'node:test';
import { type Scope, scopes } from '../../server/http/scopes.ts';
import { assertError, collectRoutes, makeApiKey, makeContact } from '../factory.ts';
import { clientFor, startService } from '../harness.ts';

/** Every operation and the one scope it needs. A route that is not here fails this suite. */
const operations: Record<string, Scope> = {
  'GET /conversations': 'conversations:read',
  'POST /conversations': 'conversations:write',
  'GET /conversations/:id': 'conversations:read',
  'PATCH /conversations/:id': 'conversations:write',
  'GET /conversations/:conversation_id/messages': 'messages:read',
  'POST /conversations/:conversation_id/messages': 'messages:write',
  'POST /channels/:id/inbound': 'messages:write',
  'POST /channels/:id/sync_templates': 'settings:write',
  'GET /media/:id': 'messages:read',
  'GET /contacts': 'contacts:read',
  'POST /contacts': 'contacts:write',
  'GET /contacts/:id': 'contacts:read',
  'PUT /contacts/:id': 'contacts:write',
  'GET /webhooks': 'webhooks:read',
  'POST /webhooks': 'webhooks:write',
  'GET /webhooks/:id': 'webhooks:read',
  'PATCH /webhooks/:id': 'webhooks:write',
  'DELETE /webhooks/:id': 'webhooks:write',
  'POST /webhooks/:id/test': 'webhooks:write',
  'POST /webhooks/:id/rotate_secret': 'webhooks:write',
  'POST /webhooks/:id/recover': 'webhooks:write',
  'GET /webhooks/:id/deliveries': 'webhooks:read',
  'GET /deliveries/:id': 'webhooks:read',
  'POST /deliveries/:id/redeliver': 'webhooks:write',
  'GET /workspace': 'settings:read',
  'GET /channels': 'settings:read',
  'POST /channels': 'settings:write',
  'GET /channels/:id': 'settings:read',
  'PATCH /channels/:id': 'settings:write',
  'DELETE /channels/:id': 'settings:write',
  'GET /agents': 'settings:read',
  'POST /agents': 'settings:write',
  'GET /agents/:id': 'settings:read',
  'PATCH /agents/:id': 'settings:write',
  'DELETE /agents/:id': 'settings:write',
  'GET /teams': 'settings:read',
  'POST /teams': 'settings:write',
  'GET /teams/:id': 'settings:read',
  'PATCH /teams/:id': 'settings:write',
  'DELETE /teams/:id': 'settings:write',
  'GET /templates': 'settings:read',
  'POST /templates': 'settings:write',
  'GET /templates/:id': 'settings:read',
  'PATCH /templates/:id': 'settings:write',
  'DELETE /templates/:id': 'settings:write',
  'GET /labels': 'settings:read',
  'POST /labels': 'settings:write',
  'GET /labels/:id': 'settings:read',
  'PATCH /labels/:id': 'settings:write',
  'DELETE /labels/:id': 'settings:write',
  'GET /custom_attributes': 'settings:read',
  'POST /custom_attributes': 'settings:write',
  'GET /custom_attributes/:id': 'settings:read',
  'PATCH /custom_attributes/:id': 'settings:write',
  'DELETE /custom_attributes/:id': 'settings:write',
  'GET /api_keys': 'settings:read',
  'POST /api_keys': 'settings:write',
  'GET /api_keys/:id': 'settings:read',
  'PATCH /api_keys/:id': 'settings:write',
  'DELETE /api_keys/:id': 'settings:write',
};

/** What needs no key under /v1: discovery, and what platforms and visitors' browsers call with a proof of their own. */
const withoutKey = new Set<string>([
  'GET /webchat/widget.js',
  'GET /webchat/demo',
  'GET /openapi.json',
  'GET /docs',
  'GET /channels/:id/webhook',
  'POST /channels/:id/webhook',
  'POST /channels/:id/webchat/session',
  'POST /channels/:id/webchat/messages',
  'GET /channels/:id/webchat/messages',
  'GET /channels/:id/webchat/events',
]);

const routes = collectRoutes();
const service = await startService();
const ws = await service.workspace();
const clients = new Map(
  await Promise.all(
    scopes.map(async (scope) => {
      const key = await ws.makeKey({ scopes: [scope] });
      return [scope, clientFor(service.baseUrl, key)] as const;
    }),
  ),
);

const under = '/v1';
const registered = routes.filter(({ method, path }) => path.startsWith(under) && method !== 'OPTIONS');

test('every operation is listed here with its one scope, and no other is', () => {
  const served = registered
    .filter(({ isPublic }) => !isPublic)
    .map(({ method, path, scope }) => [`${method} ${path.slice(under.length)}`, scope]);
  assert.deepEqual(Object.fromEntries(served), operations);
});

test('only discovery, and what platforms and visitors call, is served under /v1 without a key', () => {
  const open = registered.filter(({ isPublic }) => isPublic);
  for (const { method, path } of open) {
    const name = `${method} ${path.slice(under.length)}`;
    assert.ok(withoutKey.has(name) || name.startsWith('GET /docs/'), name);
  }
});

for (const [operation, needed] of Object.entries(operations)) {
  test(`${operation} needs the scope ${needed} and takes no other for it`, async () => {
    const [method = '', path = ''] = operation.split(' ');
    const url = path.replace(/:\w+/, 'nonsense');
    const body = method === 'GET' || method === 'DELETE' ? undefined : {};
    for (const scope of scopes) {
      const answer = await clients.get(scope)!(method, url, body);
      if (scope === needed) assert.ok([200, 400, 404].includes(answer.status), answer.text);
      else assert.match(assertError(answer, 403).message, new RegExp(needed));
    }
  });
}

test('a write scope does not include the read scope', async () => {
  const key = await ws.makeKey({ scopes: ['contacts:write'] });
  const client = { request: clientFor(service.baseUrl, key) };
  const { id } = await makeContact(client);
  assertError(await client.request('GET', `/contacts/${id}`), 403);
});

test('a key without a scope changes nothing', async () => {
  const { id } = await makeContact(ws, { name: 'Before' });
  const key = await ws.makeKey({ scopes: scopes.filter((scope) => scope !== 'contacts:write') });
  assertError(await ws.request('PUT', `/contacts/${id}`, { name: 'After' }, { key }), 403);
  assert.equal((await ws.request('GET', `/contacts/${id}`)).body.data.name, 'Before');
});

test('a key cannot create a key with scopes it lacks', async () => {
  const key = await ws.makeKey({ scopes: ['settings:write', 'contacts:read'] });
  const body = { name: 'More', scopes: ['contacts:read', 'contacts:write'] };
  assertError(await ws.request('POST', '/api_keys', body, { key }), 403);
});

test('a key can create a key with scopes it has', async () => {
  const key = await ws.makeKey({ scopes: ['settings:write', 'contacts:read'] });
  const made = await makeApiKey({ request: clientFor(service.baseUrl, key) }, { scopes: ['contacts:read'] });
  assert.deepEqual(made.scopes, ['contacts:read']);
  const request = clientFor(service.baseUrl, made.key);
  assert.equal((await request('GET', '/contacts')).status, 200);
  assertError(await request('POST', '/contacts', { name: 'Ada' }), 403);
});

test('a key created without scopes has those of the key that created it and no more', async () => {
  const key = await ws.makeKey({ scopes: ['settings:write', 'contacts:read'] });
  const made = await makeApiKey({ request: clientFor(service.baseUrl, key) });
  assert.deepEqual(made.scopes.toSorted(), ['contacts:read', 'settings:write']);
});

test('a scope outside the ten answers 400', async () => {
  const body = { name: 'Odd', scopes: ['contacts:delete'] };
  assertError(await ws.request('POST', '/api_keys', body), 400, 'scopes.0');
});
