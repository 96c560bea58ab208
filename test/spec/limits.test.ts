import assert from 'node:assert/strict';
import test from 'node:test';
import {
  assertError,
  create,
  makeChannel,
  makeContact,
  makeConversation,
  makeTemplate,
  receive,
  sendMessage,
} from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const conversation = await makeConversation(ws);
const whatsapp = await makeChannel(ws, { type: 'whatsapp' });
const mebibyte = 1024 * 1024;

const raw = (text: string) => ws.request('POST', '/contacts', undefined, { raw: text });
const send = (content: string, id = conversation.id) =>
  ws.request('POST', `/conversations/${id}/messages`, { content });

/** A contact whose JSON has exactly this many bytes. */
const sized = (bytes: number) => '{"name":"Ada"}'.padEnd(bytes, ' ');

test('a body of exactly 1 MiB is taken', async () => {
  assert.equal((await raw(sized(mebibyte))).status, 201);
});

test('a body of one byte more than 1 MiB answers 400', async () => {
  assertError(await raw(sized(mebibyte + 1)), 400);
});

test('a body far over 1 MiB answers 400', async () => {
  assertError(await raw(sized(5 * mebibyte)), 400);
});

test('a body over 1 MiB sent in chunks without a length answers 400', async () => {
  const chunk = new TextEncoder().encode(' '.repeat(64 * 1024));
  let sent = 0;
  const body = new ReadableStream({
    pull(controller) {
      if (sent++ < 20) controller.enqueue(chunk);
      else controller.close();
    },
  });
  const answer = await fetch(`${service.baseUrl}/contacts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ws.key}`, 'content-type': 'application/json' },
    body,
    duplex: 'half',
  });
  assert.equal(answer.status, 400);
  assert.equal(((await answer.json()) as { error: { code: string } }).error.code, 'bad_request');
});

test('a platform may call with 4 MiB; over that the answer is 400 and names this limit, not that of the others', async () => {
  const call = (bytes: number) =>
    ws.request('POST', `/channels/${whatsapp.id}/webhook`, undefined, { raw: ' '.repeat(bytes) });
  assertError(await call(4 * mebibyte), 403); // read, and found to be unsigned
  const answer = await call(4 * mebibyte + 1);
  assertError(answer, 400);
  assert.match(answer.body.error.message, /4 MiB/);
  assert.match((await raw(sized(mebibyte + 1))).body.error.message, /1 MiB/);
});

/** The body is level 1, custom_attributes level 2. */
const nested = (levels: number, open = '[', close = ']') =>
  `{"name":"Ada","custom_attributes":{"deep":${open.repeat(levels - 2)}${close.repeat(levels - 2)}}}`;

test('JSON 32 levels deep is taken', async () => {
  assert.equal((await raw(nested(32))).status, 201);
});

test('JSON 33 levels deep answers 400', async () => {
  assertError(await raw(nested(33)), 400);
  const objects = `{"name":"Ada","custom_attributes":${'{"a":'.repeat(32)}1${'}'.repeat(32)}}`;
  assertError(await raw(objects), 400);
});

test('JSON half a million levels deep answers 400 and harms nothing', async () => {
  assertError(await raw(nested(500_000)), 400);
  assert.equal((await raw('{"name":"Ada"}')).status, 201);
});

test('a body broad rather than deep is taken', async () => {
  const list = Array.from({ length: 5_000 }, () => [1]);
  assert.equal(
    (await ws.request('POST', '/contacts', { name: 'Ada', custom_attributes: { list } })).status,
    201,
  );
});

test('text of 10,000 characters is taken, of 10,001 answers 422', async () => {
  assert.equal((await send('x'.repeat(10_000))).status, 201);
  assertError(await send('x'.repeat(10_001)), 422, 'content');
});

test('text is counted in characters: 10,000 emoji are taken, 10,001 answer 422', async () => {
  const { content } = await sendMessage(ws, conversation.id, { content: '😀'.repeat(10_000) });
  assert.equal(content, '😀'.repeat(10_000));
  assertError(await send('😀'.repeat(10_001)), 422, 'content');
});

test('on whatsapp text of 4,096 characters is taken, of 4,097 answers 422', async () => {
  const { conversation } = await receive(ws, whatsapp.id, { from: { phone: '+4915112345678' } });
  assert.equal((await send('x'.repeat(4_096), conversation.id)).status, 201);
  assertError(await send('x'.repeat(4_097), conversation.id), 422, 'content');
});

test('on whatsapp a rendered template is held to 4,096 characters too', async () => {
  const template = await makeTemplate(ws, { body: '{{text}}' });
  const { id } = await makeConversation(ws, { channel_id: whatsapp.id });
  const sent = (length: number) =>
    ws.request('POST', `/conversations/${id}/messages`, {
      template_id: template.id,
      template_variables: { text: 'x'.repeat(length) },
    });
  assert.equal((await sent(4_096)).status, 201);
  assertError(await sent(4_097), 422);
});

test('a received text is held to 10,000 characters', async () => {
  const channel = await makeChannel(ws);
  const inbound = (length: number) =>
    ws.request('POST', `/channels/${channel.id}/inbound`, {
      from: { external_id: 'x' },
      content: 'x'.repeat(length),
    });
  assert.equal((await inbound(10_000)).status, 201);
  assertError(await inbound(10_001), 422, 'content');
});

const named: [what: string, make: (name: string) => Promise<{ status: number }>][] = [
  ['contact', (name) => ws.request('POST', '/contacts', { name })],
  ['channel', (name) => ws.request('POST', '/channels', { type: 'api', name })],
  ['agent', (name) => ws.request('POST', '/agents', { name })],
  ['team', (name) => ws.request('POST', '/teams', { name })],
  ['template', (name) => ws.request('POST', '/templates', { name, body: 'Hi' })],
  ['label', (name) => ws.request('POST', '/labels', { name })],
  ['API key', (name) => ws.request('POST', '/api_keys', { name })],
];

for (const [what, make] of named) {
  test(`the name of a ${what} has at most 255 characters: 256 answer 422`, async () => {
    assert.equal((await make('n'.repeat(255))).status, 201);
    assert.equal((await make('n'.repeat(256))).status, 422);
  });
}

test('a name is counted in characters: 255 emoji are taken, 256 answer 422', async () => {
  assert.equal((await makeContact(ws, { name: '😀'.repeat(255) })).name, '😀'.repeat(255));
  assertError(await ws.request('POST', '/contacts', { name: '😀'.repeat(256) }), 422, 'name');
});

test('a label and a tag have at most 255 characters', async () => {
  const path = `/conversations/${conversation.id}`;
  assert.equal((await ws.request('PATCH', path, { labels: ['l'.repeat(255)] })).status, 200);
  assertError(await ws.request('PATCH', path, { labels: ['l'.repeat(256)] }), 422);
  assert.equal((await makeContact(ws, { tags: ['t'.repeat(255)] })).tags.length, 1);
  assertError(await ws.request('POST', '/contacts', { name: 'Ada', tags: ['t'.repeat(256)] }), 422);
});

test('an Idempotency-Key has at most 255 characters: 256 answer 400', async () => {
  const attempt = (length: number) =>
    ws.request('POST', '/contacts', { name: 'Ada' }, { headers: { 'idempotency-key': 'k'.repeat(length) } });
  assert.equal((await attempt(255)).status, 201);
  assertError(await attempt(256), 400);
});

test('a hundred custom attributes are taken', async () => {
  const custom_attributes = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`key${n}`, n]));
  const contact = await create(ws, '/contacts', { name: 'Ada', custom_attributes });
  assert.deepEqual(contact.custom_attributes, custom_attributes);
});

test('duplicate keys in JSON: the last one holds, as in every JSON reader', async () => {
  const answer = await raw('{"name":"Ada","name":"Grace"}');
  assert.equal(answer.body.data.name, 'Grace');
});

test('custom attributes of a contact hold 64 KiB in all, and keys of 1 to 255 characters that are not blank', async () => {
  const { body } = await ws.request('POST', '/contacts', { name: 'Ada' });
  const put = (custom_attributes: object) =>
    ws.request('PUT', `/contacts/${body.data.id}`, { custom_attributes });
  assert.equal((await put({ a: 'x'.repeat(40_000) })).status, 200);
  for (const attributes of [{ b: 'x'.repeat(40_000) }, { ' ': 1 }, { '': 1 }, { ['k'.repeat(256)]: 1 }]) {
    assert.equal((await put(attributes)).status, 422);
  }
  const { body: after } = await ws.request('GET', `/contacts/${body.data.id}`);
  assert.deepEqual(Object.keys(after.data.custom_attributes), ['a']);
});

test('a name that is too long is said to be too long', async () => {
  const { status, body } = await ws.request('POST', '/contacts', { name: 'x'.repeat(256) });
  assert.equal(status, 422);
  assert.equal(body.error.message, 'name must have at most 255 characters');
});

test('a workspace has at most 500 labels, whether made by name or on first use', async () => {
  const full = await service.workspace();
  const { id } = await makeConversation(full);
  await service.sql(
    `insert into labels (workspace_id, id, name, color)
     select $1, gen_random_uuid(), 'label ' || n, '#888888' from generate_series(1, 500) n`,
    [full.uuid],
  );
  const label = (names: string[]) => full.request('PATCH', `/conversations/${id}`, { labels: names });
  assertError(await full.request('POST', '/labels', { name: 'one more' }), 422, 'labels');
  assertError(await label(['label 1', 'one more']), 422, 'labels');
  assert.deepEqual((await label(['label 1'])).body.data.labels, ['label 1']);
});
