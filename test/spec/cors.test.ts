import assert from 'node:assert/strict';
import test from 'node:test';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const origin = 'https://shop.example.com';

const listed = (headers: Headers, name: string) =>
  (headers.get(name) ?? '').split(',').map((one) => one.trim().toLowerCase());

const preflight = (method: string, headers = 'authorization,content-type,idempotency-key') =>
  fetch(`${service.baseUrl}/contacts`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': headers },
  });

for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
  test(`a browser may ask for ${method} from any page: the preflight needs no key`, async () => {
    const { status, headers } = await preflight(method);
    assert.ok(status === 200 || status === 204);
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.ok(listed(headers, 'access-control-allow-methods').includes(method.toLowerCase()));
    const allowed = listed(headers, 'access-control-allow-headers');
    for (const name of ['authorization', 'content-type', 'idempotency-key'])
      assert.ok(allowed.includes(name));
  });
}

test('the answer itself may be read by any page', async () => {
  const answer = await ws.request('GET', '/contacts', undefined, { headers: { origin } });
  assert.equal(answer.headers.get('access-control-allow-origin'), '*');
});

test('a page may read the headers of the service', async () => {
  const { headers } = await ws.request('GET', '/contacts', undefined, { headers: { origin } });
  const exposed = listed(headers, 'access-control-expose-headers');
  for (const name of [
    'x-request-id',
    'x-ratelimit-limit',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
    'retry-after',
    'link',
    'idempotent-replayed',
  ]) {
    assert.ok(exposed.includes(name), name);
  }
});

test('an error may be read by any page too', async () => {
  for (const [key, path] of [
    [undefined, '/contacts'],
    [ws.key, '/contacts/nonsense'],
    [ws.key, '/nowhere'],
  ] as const) {
    const answer = await service.request('GET', path, undefined, { key, headers: { origin } });
    assert.equal(answer.headers.get('access-control-allow-origin'), '*', path);
  }
});

test('cookies are never asked for: no answer allows credentials', async () => {
  const { headers } = await preflight('GET');
  assert.equal(headers.get('access-control-allow-credentials'), null);
  const answer = await ws.request('GET', '/contacts', undefined, { headers: { origin } });
  assert.equal(answer.headers.get('access-control-allow-credentials'), null);
});

test('a preflight does not use up the rate of anyone', async () => {
  const before = await service.sql(`select bucket, used from rate_windows order by bucket`);
  await preflight('POST');
  assert.deepEqual(await service.sql(`select bucket, used from rate_windows order by bucket`), before);
});
