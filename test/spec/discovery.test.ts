import assert from 'node:assert/strict';
import test from 'node:test';
import { scopes } from '../../server/http/scopes.ts';
import { collectRoutes, type Data } from '../factory.ts';
import { startService } from '../harness.ts';

const routes = collectRoutes();
const service = await startService();

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${service.baseUrl}${path}`, { headers });

interface Described {
  operation: string;
  security: Record<string, string[]>[] | undefined;
}

async function described(): Promise<Described[]> {
  const document = (await (await get('/openapi.json')).json()) as Data;
  const paths = Object.entries<Record<string, Data>>(document.paths);
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      operation: `${method.toUpperCase()} ${path}`,
      security,
    })),
  );
}

test('GET /openapi.json answers an OpenAPI 3.1 document without a key', async () => {
  const answer = await get('/openapi.json');
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assert.match(((await answer.json()) as Data).openapi, /^3\.1\./);
});

test('GET /docs answers a page without a key, also to a key that is wrong', async () => {
  for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
    const answer = await get('/docs', headers);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
    await answer.text();
  }
});

test('the document lists every operation with exactly one scope, the one the server asks for', async () => {
  const listed = (await described())
    .filter(({ security = [] }) => security.length > 0)
    .map(({ operation, security = [] }) => [operation, security.flatMap((one) => Object.values(one).flat())]);
  const served = routes
    .filter(({ path, method, isPublic }) => path.startsWith('/v1') && method !== 'OPTIONS' && !isPublic)
    .map(({ method, path, scope }) => [
      `${method} ${path.slice('/v1'.length).replaceAll(/:(\w+)/g, '{$1}')}`,
      [scope],
    ]);
  assert.deepEqual(Object.fromEntries(listed), Object.fromEntries(served));
});

test('every scope is asked for by some operation, and no other is', async () => {
  const asked = (await described()).flatMap(({ security = [] }) =>
    security.flatMap((one) => Object.values(one).flat()),
  );
  assert.deepEqual([...new Set(asked)].toSorted(), scopes.toSorted());
});
