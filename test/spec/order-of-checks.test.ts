import assert from 'node:assert/strict';
import test from 'node:test';
import { scopes } from '../../server/http/scopes.ts';
import { assertError, makeContact, read } from '../factory.ts';
import { startService, type Workspace } from '../harness.ts';

/** 401, then 429, then 403, then 404, 400 and 422. */
const service = await startService();
const ws = await service.workspace();

/** As if this key had made all its requests of the minute. */
async function exhaust({ request }: Workspace, key: string) {
  await request('GET', '/contacts', undefined, { key });
  await service.sql(`update rate_windows set used = capacity`);
}

const withoutKey: [why: string, method: string, path: string, raw?: string][] = [
  ['an unknown route', 'GET', '/nowhere'],
  ['a missing resource', 'GET', '/contacts/ct_none'],
  ['an unreadable body', 'POST', '/contacts', '{'],
  ['a body that is too large', 'POST', '/contacts', `"${'x'.repeat(1_100_000)}"`],
  ['a page out of range', 'GET', '/contacts?page=0'],
  ['a query that is not UTF-8', 'GET', '/contacts?q=%ff'],
  ['a path that is not UTF-8', 'GET', '/contacts/%ff'],
  ['a very long id', 'GET', `/contacts/${'x'.repeat(300)}`],
];

for (const [why, method, path, raw] of withoutKey) {
  test(`without a key ${why} answers 401`, async () => {
    assertError(await service.request(method, path, undefined, { ...(raw !== undefined && { raw }) }), 401);
  });
}

test('a key over its rate that also lacks the scope answers 429', async () => {
  const other = await service.workspace();
  const key = await other.makeKey({ scopes: ['webhooks:read'] });
  await exhaust(other, key);
  assertError(await other.request('GET', '/contacts', undefined, { key }), 429);
});

test('a key over its rate answers 429 to an unknown route, a missing resource and an unreadable body', async () => {
  const other = await service.workspace();
  await exhaust(other, other.key);
  assertError(await other.request('GET', '/nowhere'), 429);
  assertError(await other.request('GET', '/contacts/ct_none'), 429);
  assertError(await other.request('POST', '/contacts', undefined, { raw: '{' }), 429);
});

const withoutScope: [why: string, method: string, path: string, body?: string][] = [
  ['a missing resource', 'PUT', '/contacts/ct_none', '{}'],
  ['an unreadable body', 'POST', '/contacts', '{'],
  ['a body that breaks the shape', 'POST', '/contacts', '{}'],
  ['a body that breaks a rule', 'POST', '/contacts', '{"name":""}'],
  ['a page out of range', 'GET', '/contacts?page=0'],
  ['a query that is not UTF-8', 'GET', '/contacts?q=%ff'],
];

for (const [why, method, path, raw] of withoutScope) {
  test(`without the scope ${why} answers 403`, async () => {
    const key = await ws.makeKey({ scopes: scopes.filter((scope) => !scope.startsWith('contacts')) });
    assertError(await ws.request(method, path, undefined, { key, ...(raw !== undefined && { raw }) }), 403);
  });
}

test('a refused request changes nothing, whatever refused it', async () => {
  const own = await service.workspace();
  const before = await makeContact(own, { name: 'Before' });
  const path = `/contacts/${before.id}`;
  const body = { name: 'After' };
  await service.request('PUT', path, body);
  await own.request('PUT', path, body, { key: await own.makeKey({ scopes: ['contacts:read'] }) });
  await own.request('PUT', path, { ...body, phone: 'x' });
  await own.request('PUT', path, { ...body, tags: 'x' });
  assert.deepEqual(await read(own, path), before);
});
