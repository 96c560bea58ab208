import assert from 'node:assert/strict';
import test from 'node:test';
import { collectRoutes, type Data } from '../factory.ts';
import { startService } from '../harness.ts';

const routes = collectRoutes();
const service = await startService();
const ws = await service.workspace();

const get = (path: string) =>
  fetch(`${service.origin}${path}`, { headers: { authorization: `Bearer ${ws.key}` } });

test('every endpoint is under the path version segment /v1, only operation is at the root', () => {
  const atRoot = routes
    .filter(({ path }) => !path.startsWith('/v1'))
    .map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(atRoot.toSorted(), ['GET /healthz', 'GET /metrics', 'GET /readyz']);
});

test('the base address with /v1 serves the endpoints', async () => {
  const answer = await get('/v1/contacts');
  assert.equal(answer.status, 200);
  await answer.text();
});

for (const path of [
  '/contacts',
  '/v2/contacts',
  '/v0/contacts',
  '/V1/contacts',
  '/v1x/contacts',
  '/v1/v1/contacts',
]) {
  test(`${path} is not served: 404`, async () => {
    const answer = await get(path);
    assert.equal(answer.status, 404);
    assert.equal(((await answer.json()) as Data).error.code, 'not_found');
  });
}

test('nothing in /v1 is deprecated: no answer has Deprecation or Sunset', async () => {
  for (const { method, path, isPublic } of routes) {
    if (method !== 'GET' || isPublic) continue;
    const answer = await get(path.replace(/:\w+/, 'x'));
    assert.equal(answer.headers.get('deprecation'), null);
    assert.equal(answer.headers.get('sunset'), null);
    await answer.text();
  }
});
