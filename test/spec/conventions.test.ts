import assert from 'node:assert/strict';
import test from 'node:test';
import {
  assertError,
  makeAgent,
  makeApiKey,
  makeChannel,
  makeContact,
  makeConversation,
  makeTeam,
  makeTemplate,
  makeWebhook,
  messagesOf,
  read,
  receive,
  sendMessage,
  timestamp,
  webhookUrl,
} from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const contact = await makeContact(ws);
const channel = await makeChannel(ws);
const conversation = await makeConversation(ws, { contact_id: contact.id, channel_id: channel.id });
const message = await sendMessage(ws, conversation.id, { content: 'Hello' });
const webhook = await makeWebhook(ws);

const lists = [
  '/conversations',
  `/conversations/${conversation.id}/messages`,
  '/contacts',
  '/webhooks',
  '/channels',
  '/agents',
  '/teams',
  '/templates',
  '/labels',
  '/custom_attributes',
  '/api_keys',
];

for (const path of lists) {
  test(`GET ${path.replace(conversation.id, '{id}')} answers 200 with an array in data and with meta`, async () => {
    const { status, body } = await ws.request('GET', path);
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['data', 'meta']);
    assert.ok(Array.isArray(body.data));
    const walkable = /conversations|contacts/.test(path) ? ['next_cursor'] : [];
    assert.deepEqual(Object.keys(body.meta), ['total', 'page', 'per_page', 'total_pages', ...walkable]);
  });
}

const made: [method: string, path: string, body: () => unknown][] = [
  ['POST', '/contacts', () => ({ name: 'Ada' })],
  ['POST', '/conversations', () => ({ contact_id: contact.id, channel_id: channel.id })],
  ['POST', `/conversations/${conversation.id}/messages`, () => ({ content: 'Hello' })],
  ['POST', '/webhooks', () => ({ url: webhookUrl, events: ['contact.created'] })],
  ['POST', `/channels/${channel.id}/inbound`, () => ({ from: { external_id: 'v1' }, content: 'Hi' })],
  ['POST', '/channels', () => ({ type: 'api', name: 'Second' })],
  ['POST', '/agents', () => ({ name: 'Grace' })],
  ['POST', '/teams', () => ({ name: 'Sales' })],
  ['POST', '/templates', () => ({ name: 'hi', body: 'Hi' })],
  ['POST', '/labels', () => ({ name: 'vip' })],
  ['POST', '/custom_attributes', () => ({ key: 'size', type: 'number' })],
  ['POST', '/api_keys', () => ({ name: 'Another' })],
];

for (const [method, path, body] of made) {
  test(`${method} ${path.replace(/_[0-9a-z]{26}/, '_…')} answers 201 with one object in data`, async () => {
    const answer = await ws.request(method, path, body());
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(Object.keys(answer.body), ['data']);
    assert.equal(Array.isArray(answer.body.data), false);
  });
}

test('GET of one, PATCH, PUT and DELETE answer 200 with one object in data', async () => {
  const answers = [
    await ws.request('GET', `/conversations/${conversation.id}`),
    await ws.request('GET', `/contacts/${contact.id}`),
    await ws.request('GET', `/webhooks/${webhook.id}`),
    await ws.request('GET', '/workspace'),
    await ws.request('PATCH', `/conversations/${conversation.id}`, {}),
    await ws.request('PUT', `/contacts/${contact.id}`, {}),
    await ws.request('PATCH', `/webhooks/${webhook.id}`, {}),
    await ws.request('DELETE', `/webhooks/${(await makeWebhook(ws)).id}`),
  ];
  for (const { status, body } of answers) {
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['data']);
    assert.equal(typeof body.data.id, 'string');
  }
});

test('DELETE /webhooks/{id} answers JSON: the id and deleted true', async () => {
  const { id } = await makeWebhook(ws);
  const { status, body } = await ws.request('DELETE', `/webhooks/${id}`);
  assert.equal(status, 200);
  assert.deepEqual(body, { data: { id, deleted: true } });
});

test('ids are opaque strings with the prefix of their kind', async () => {
  const key = await makeApiKey(ws);
  const workspace = await read(ws, '/workspace');
  const label = await ws.request('POST', '/labels', { name: 'prefixed' });
  const attribute = await ws.request('POST', '/custom_attributes', { key: 'prefixed', type: 'string' });
  const ids: [string, string][] = [
    ['conv_', conversation.id],
    ['ch_', channel.id],
    ['ct_', contact.id],
    ['usr_', (await makeAgent(ws)).id],
    ['msg_', message.id],
    ['wh_', webhook.id],
    ['ws_', workspace.id],
    ['team_', (await makeTeam(ws)).id],
    ['tpl_', (await makeTemplate(ws)).id],
    ['lbl_', label.body.data.id],
    ['cattr_', attribute.body.data.id],
    ['key_', key.id],
  ];
  for (const [prefix, id] of ids) assert.match(id, new RegExp(`^${prefix}[0-9a-z]+$`));
});

test('timestamps are ISO 8601 in UTC with three decimals and a trailing Z', async () => {
  const { conversation: received } = await receive(ws, channel.id, { from: { external_id: 'clock' } });
  const [incoming] = await messagesOf(ws, received.id);
  const resources = [
    conversation,
    contact,
    message,
    webhook,
    channel,
    incoming,
    await read(ws, '/workspace'),
  ];
  for (const { created_at } of resources) assert.match(created_at, timestamp);
  assert.match(conversation.updated_at, timestamp);
  assert.ok(Math.abs(Date.parse(incoming.created_at) - Date.now()) < 60_000, 'the time is now, in UTC');
});

test('a timestamp on a whole second still has three decimals', async () => {
  await service.sql(`update contacts set created_at = '2026-11-15T09:30:00Z' where workspace_id = $1`, [
    ws.uuid,
  ]);
  const { created_at } = await read(ws, `/contacts/${contact.id}`);
  assert.equal(created_at, '2026-11-15T09:30:00.000Z');
});

test('unknown body fields are ignored, so what was read can be sent back', async () => {
  const fresh = await makeContact(ws, { company: 'Analytical', tags: ['a'] });
  const put = await ws.request('PUT', `/contacts/${fresh.id}`, fresh);
  assert.deepEqual(put.body, { data: fresh });
  const conv = await makeConversation(ws);
  const patch = await ws.request('PATCH', `/conversations/${conv.id}`, conv);
  assert.deepEqual(patch.body, { data: conv });
  const post = await ws.request('POST', '/contacts', { name: 'Ada', nonsense: { deep: [1] } });
  assert.equal(post.status, 201);
  assert.equal('nonsense' in post.body.data, false);
});

test('unknown query parameters are ignored', async () => {
  const { status } = await ws.request('GET', '/contacts?nonsense=1');
  assert.equal(status, 200);
});

test('every answer is JSON, also that of an error', async () => {
  const answers = [
    await ws.request('GET', '/contacts'),
    await ws.request('POST', '/contacts', {}),
    await ws.request('GET', '/nowhere'),
    await service.request('GET', '/contacts'),
  ];
  for (const { headers } of answers)
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
});

test('every answer carries an X-Request-Id of its own', async () => {
  const answers = [
    await ws.request('GET', '/contacts'),
    await ws.request('GET', '/contacts'),
    await ws.request('POST', '/contacts', {}),
    await service.request('GET', '/contacts'),
  ];
  const ids = answers.map(({ headers }) => headers.get('x-request-id'));
  for (const id of ids) assert.match(id ?? '', /^\S{8,}$/);
  assert.equal(new Set(ids).size, ids.length);
});

test('a sane X-Request-Id of the client is echoed in the header and in an error', async () => {
  const headers = { 'x-request-id': 'order-4711.retry:2_a' };
  const good = await ws.request('GET', '/contacts', undefined, { headers });
  assert.equal(good.headers.get('x-request-id'), 'order-4711.retry:2_a');
  const bad = await ws.request('GET', '/contacts/ct_none', undefined, { headers });
  assert.equal(bad.headers.get('x-request-id'), 'order-4711.retry:2_a');
  assert.equal(bad.body.error.request_id, 'order-4711.retry:2_a');
});

for (const odd of ['a b', '<script>', 'a"b', 'x'.repeat(129), '{}']) {
  test(`an X-Request-Id that is not sane (${odd.slice(0, 12)}) is replaced`, async () => {
    const answer = await ws.request('GET', '/contacts', undefined, { headers: { 'x-request-id': odd } });
    assert.notEqual(answer.headers.get('x-request-id'), odd);
    assert.match(answer.headers.get('x-request-id') ?? '', /^req_/);
  });
}

test('GET parameters are query-string parameters, bodies are JSON: a form body answers 400', async () => {
  const answer = await ws.request('POST', '/contacts', undefined, {
    raw: 'name=Ada',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  assertError(answer, 400);
});

test('a Content-Type with charset=utf-8 is taken', async () => {
  const answer = await ws.request(
    'POST',
    '/contacts',
    { name: 'Ada' },
    {
      headers: { 'content-type': 'application/json; charset=utf-8' },
    },
  );
  assert.equal(answer.status, 201);
});

test('/healthz, /readyz and /metrics answer at the root without a key', async () => {
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    const answer = await fetch(`${service.origin}${path}`);
    assert.equal(answer.status, 200);
    await answer.text();
  }
});
