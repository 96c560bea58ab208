import assert from 'node:assert/strict';
import test from 'node:test';
import { assertError, makeChannel } from '../../../test/factory.ts';
import { startService } from '../../../test/harness.ts';
import { makeWebchat, visit } from '../../../test/webchat.ts';

const service = await startService();
const ws = await service.workspace();
const shop = 'https://shop.example.com';
const evil = 'https://evil.example.com';
const closed = await makeWebchat(ws, { allowed_origins: [shop, 'http://localhost:8080'] });
const open = await makeWebchat(ws);
const empty = await makeWebchat(ws, { allowed_origins: [] });

test.beforeEach(() => service.sql('delete from rate_windows'));

const paths = [
  ['POST', 'session'],
  ['POST', 'messages'],
  ['GET', 'messages'],
  ['GET', 'events'],
] as const;

const preflight = (channelId: string, path: string, method: string, origin: string) =>
  fetch(`${service.baseUrl}/channels/${channelId}/webchat/${path}`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type,last-event-id',
    },
  });

for (const [method, path] of paths) {
  test(`${method} ${path}: a page of an allowed origin may, and only that origin is named`, async () => {
    const asked = await preflight(closed.id, path, method, shop);
    assert.equal(asked.status, 204);
    assert.equal(asked.headers.get('access-control-allow-origin'), shop);
    assert.match(asked.headers.get('vary') ?? '', /Origin/);
    assert.match(asked.headers.get('access-control-allow-methods') ?? '', new RegExp(method));
    for (const name of ['authorization', 'content-type', 'last-event-id']) {
      assert.match(asked.headers.get('access-control-allow-headers') ?? '', new RegExp(name));
    }
    const { headers } = await service.request(method, `/channels/${closed.id}/webchat/${path}`, undefined, {
      headers: { origin: shop },
    });
    assert.equal(headers.get('access-control-allow-origin'), shop);
    assert.match(headers.get('vary') ?? '', /Origin/);
    assert.match(headers.get('access-control-expose-headers') ?? '', /Retry-After/);
  });

  test(`${method} ${path}: a page of any other origin may not, and no header lets it read the answer`, async () => {
    for (const origin of [
      evil,
      'null',
      `${shop}.evil.example.com`,
      'http://shop.example.com',
      `${shop}:444`,
    ]) {
      const asked = await preflight(closed.id, path, method, origin);
      assert.equal(asked.status, 403);
      assert.equal(asked.headers.get('access-control-allow-origin'), null);
      const answer = await service.request(method, `/channels/${closed.id}/webchat/${path}`, undefined, {
        headers: { origin },
      });
      assertError(answer, 403);
      assert.equal(answer.headers.get('access-control-allow-origin'), null);
      assert.match(answer.headers.get('vary') ?? '', /Origin/);
    }
  });

  test(`${method} ${path}: without a list any page may`, async () => {
    for (const { id } of [open, empty]) {
      const asked = await preflight(id, path, method, evil);
      assert.equal(asked.status, 204);
      assert.equal(asked.headers.get('access-control-allow-origin'), '*');
    }
  });
}

test('a page that is not allowed writes nothing, even with a token it should not have', async () => {
  const visitor = await visit(service, closed.id);
  assertError(await visitor.request('POST', '/messages', { content: 'Hi' }, { origin: evil }), 403);
  assert.deepEqual((await visitor.history()).messages, []);
});

test('the service’s own demo page may always, and a request of no page at all', async () => {
  const visitor = await visit(service, closed.id);
  const answer = await visitor.request('GET', '/messages', undefined, { origin: service.origin });
  assert.equal(answer.status, 200);
  assert.equal((await visitor.request('GET', '/messages')).status, 200);
});

test('a change of the list counts at once', async () => {
  const changing = await makeWebchat(ws, { allowed_origins: [shop] });
  const visitor = await visit(service, changing.id);
  assertError(await visitor.request('GET', '/messages', undefined, { origin: evil }), 403);
  await ws.request('PATCH', `/channels/${changing.id}`, { settings: { allowed_origins: [evil] } });
  assert.equal((await visitor.request('GET', '/messages', undefined, { origin: evil })).status, 200);
  assertError(await visitor.request('GET', '/messages', undefined, { origin: shop }), 403);
});

test('that there is no such channel may be read by any page, preflight and all', async () => {
  const other = await makeChannel(ws);
  const asked = await preflight(other.id, 'session', 'POST', evil);
  assert.equal(asked.status, 204);
  assert.equal(asked.headers.get('access-control-allow-origin'), '*');
  const answer = await service.request(
    'POST',
    `/channels/${other.id}/webchat/session`,
    {},
    { headers: { origin: evil } },
  );
  assertError(answer, 404);
  assert.equal(answer.headers.get('access-control-allow-origin'), '*');
});

test('the rest of /v1 stays open to any page', async () => {
  const { headers } = await ws.request('GET', '/channels', undefined, { headers: { origin: evil } });
  assert.equal(headers.get('access-control-allow-origin'), '*');
});

test('no answer allows credentials', async () => {
  for (const [method, path] of paths) {
    const { headers } = await preflight(open.id, path, method, shop);
    assert.equal(headers.get('access-control-allow-credentials'), null);
  }
});
