import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import pg from 'pg';
import { assertError, create, eventually } from '../factory.ts';
import { atEnd, createDatabase } from '../harness.ts';
import { external, longMs, start, stop } from './child.ts';

/** Every secret and every word of a customer has this in it. */
const canary = 'c4n4ry';
const key = `key-of-the-operator-${canary}`;

const receiver = createServer((_request, response) => {
  response.writeHead(500).end(`refused, ${canary}`);
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
atEnd(async () => {
  receiver.closeAllConnections();
  receiver.close();
});
const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?token=${canary}`;

const databaseUrl = await createDatabase();
const sql = new pg.Client({ connectionString: databaseUrl });
await sql.connect();
atEnd(() => sql.end());

const service = await start({
  ...external(databaseUrl),
  INBOX_SECRET_KEY: `a secret key, ${canary}, of 32 characters or more`,
  INBOX_API_KEY: key,
  INBOX_LOG_LEVEL: 'trace',
  INBOX_ALLOW_HTTP_WEBHOOKS: 'on',
  INBOX_EGRESS_ALLOW: '127.0.0.0/8',
  INBOX_WEBHOOK_RETRY_SECONDS: '0.1,0.1',
});
const ws = {
  request: ((method, path, body, options) =>
    service.request(method, path, body, { key, ...options })) as typeof service.request,
};

test('every request is one JSON line on stderr with its id, method, path, status and time', async () => {
  const sent = [
    { id: 'one-1', method: 'GET', path: '/workspace', status: 200 },
    { id: 'two-2', method: 'GET', path: '/contacts/ct_nothing', status: 404 },
    { id: 'three-3', method: 'POST', path: '/contacts', status: 400 },
  ];
  for (const { id, method, path } of sent) {
    const body = method === 'POST' ? {} : undefined;
    const { headers } = await ws.request(method, `${path}?note=${canary}`, body, {
      headers: { 'x-request-id': id },
    });
    assert.equal(headers.get('x-request-id'), id);
  }
  for (const { id, method, path, status } of sent) {
    const lines = await eventually(
      longMs,
      async () => service.logs().filter(({ reqId }) => reqId === id),
      ({ length }) => length > 0,
    );
    assert.equal(lines.length, 1);
    const { ms, ...line } = lines[0]!;
    assert.partialDeepStrictEqual(line, { msg: 'request', method, path: `/v1${path}`, status });
    assert.equal(typeof ms, 'number');
  }
});

test('no secret, no text of a customer and no query string is ever logged, at the most talkative level', async () => {
  const channel = await create(ws, '/channels', { type: 'api', name: canary, settings: { secret: canary } });
  await create(ws, '/channels', {
    type: 'whatsapp',
    name: 'WhatsApp',
    settings: { phone_number_id: '1', access_token: canary, app_secret: canary, verify_token: canary },
  });
  const webhook = await create(ws, '/webhooks', { url: hook, events: ['message.created'] });
  const made = await create(ws, '/api_keys', { name: canary });
  const receive = (content: string, headers = {}) =>
    ws.request(
      'POST',
      `/channels/${channel.id}/inbound`,
      { from: { email: `${canary}@example.com`, name: canary }, content },
      { headers },
    );
  await receive(canary, { 'idempotency-key': canary });
  await ws.request('GET', `/contacts?q=${canary}`);
  await ws.request('GET', `/workspace`, undefined, { key: made.key });
  await ws.request('GET', `/workspace`, undefined, { key: `unknown-${canary}` });
  assertError(await ws.request('POST', '/contacts', undefined, { raw: `{"name": "${canary}` }), 400);
  assertError(await ws.request('GET', `/${canary.length}?${canary}`), 404);

  // A defect: the database refuses a row, and quotes it whole in the error.
  await sql.query(`alter table messages add constraint refused check (content not like '%refused%')`);
  assertError(await receive(`refused, ${canary}`), 500);
  await eventually(
    longMs,
    () => ws.request('GET', `/webhooks/${webhook.id}/deliveries`),
    ({ body }) => body.data?.some(({ state }: { state: string }) => state === 'failed'),
  );
  await stop(service);

  const failure = service.logs().find(({ msg }) => msg === 'request failed');
  assert.partialDeepStrictEqual(failure, {
    err: { code: '23514', table: 'messages', constraint: 'refused' },
  });
  for (const line of service.stderr().trim().split('\n')) {
    assert.doesNotThrow(() => JSON.parse(line), line);
    for (const secret of [canary, key, made.key, webhook.secret]) assert.ok(!line.includes(secret), line);
  }
});
