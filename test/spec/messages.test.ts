import assert from 'node:assert/strict';
import test from 'node:test';
import { toId } from '../../server/ids.ts';
import {
  assertError,
  eventsDuring,
  inParallel,
  makeAgent,
  makeApiKey,
  makeChannel,
  makeConversation,
  messagesOf,
  patchConversation,
  read,
  receive,
  sendMessage,
} from '../factory.ts';
import { clientFor, startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const missing = toId('conversation', '01999999-9999-7999-8999-999999999999');
const shared = await makeConversation(ws);

const send = (body: unknown, id = shared.id) => ws.request('POST', `/conversations/${id}/messages`, body);
const contents = (messages: { content: string }[]) => messages.map(({ content }) => content);

test('GET …/messages lists the messages of the conversation from oldest to newest', async () => {
  const { id } = await makeConversation(ws);
  for (const content of ['one', 'two', 'three']) await sendMessage(ws, id, { content });
  assert.deepEqual(contents(await read(ws, `/conversations/${id}/messages`)), ['one', 'two', 'three']);
});

test('GET …/messages?order=desc lists them from newest to oldest, page by page', async () => {
  const { id } = await makeConversation(ws);
  for (const content of ['one', 'two', 'three']) await sendMessage(ws, id, { content });
  const path = `/conversations/${id}/messages?order=desc&per_page=2`;
  assert.deepEqual(contents(await read(ws, path)), ['three', 'two']);
  assert.deepEqual(contents(await read(ws, `${path}&page=2`)), ['one']);
});

test('GET …/messages with an order outside asc and desc answers 400', async () => {
  assertError(await ws.request('GET', `/conversations/${shared.id}/messages?order=up`), 400, 'order');
});

test('GET …/messages shows only the messages of that conversation', async () => {
  const [one, two] = [await makeConversation(ws), await makeConversation(ws)];
  await sendMessage(ws, one.id, { content: 'for one' });
  await sendMessage(ws, two.id, { content: 'for two' });
  assert.deepEqual(contents(await messagesOf(ws, one.id)), ['for one']);
});

test('GET …/messages of a conversation that is not there answers 404 and names the conversation', async () => {
  const answer = await ws.request('GET', `/conversations/${missing}/messages`);
  assert.equal(assertError(answer, 404).message, 'Conversation not found');
});

test('GET …/messages of a conversation without messages is empty', async () => {
  const { id } = await makeConversation(ws);
  const { body } = await ws.request('GET', `/conversations/${id}/messages`);
  const meta = { total: 0, page: 1, per_page: 50, total_pages: 0, next_cursor: null };
  assert.deepEqual(body, { data: [], meta });
});

test('POST …/messages sends an outgoing text', async () => {
  const message = await sendMessage(ws, shared.id, { content: 'Hello' });
  assert.equal(message.type, 'outgoing');
  assert.equal(message.content, 'Hello');
  assert.equal(message.private, false);
});

test('POST …/messages to a conversation that is not there answers 404', async () => {
  assertError(await send({ content: 'Hello' }, missing), 404);
  assertError(await send({ content: 'Hello' }, 'nonsense'), 404);
});

const refused: [why: string, body: unknown, status: number, field: string][] = [
  ['without content and template_id', {}, 400, 'content'],
  ['with only private', { private: true }, 400, 'content'],
  ['with content null', { content: null }, 400, 'content'],
  ['with content that is a number', { content: 5 }, 400, 'content'],
  ['with empty content', { content: '' }, 422, 'content'],
  ['with content that is empty after trimming', { content: ' \t\n ' }, 422, 'content'],
  ['with private that is a string', { content: 'x', private: 'true' }, 400, 'private'],
  ['with template_id that is a number', { template_id: 5 }, 400, 'template_id'],
  [
    'with template_variables that is an array',
    { template_id: 'x', template_variables: [] },
    400,
    'template_variables',
  ],
  ['with an array for a body', [], 400, 'body'],
  ['with null for a body', null, 400, 'body'],
];

for (const [why, body, status, field] of refused) {
  test(`POST …/messages ${why} answers ${status} and sends nothing`, async () => {
    const { id } = await makeConversation(ws);
    const events = await eventsDuring(service, ws, async () => {
      assertError(await send(body, id), status, field);
    });
    assert.deepEqual(events, []);
    assert.deepEqual(await messagesOf(ws, id), []);
  });
}

test('text keeps the blanks around it', async () => {
  assert.equal((await sendMessage(ws, shared.id, { content: '  two blanks \n' })).content, '  two blanks \n');
});

test('a message of a key that stands for no agent is of a bot: the key and its name', async () => {
  const { sender } = await sendMessage(ws, shared.id, { content: 'Hello' });
  assert.deepEqual(sender, { type: 'bot', id: ws.keyId, name: 'Test key' });
});

test('a message of a key that stands for an agent is of that agent', async () => {
  const agent = await makeAgent(ws, { name: 'Grace' });
  const { key } = await makeApiKey(ws, { agent_id: agent.id });
  const graces = { request: clientFor(service.baseUrl, key) };
  const { sender } = await sendMessage(graces, shared.id, { content: 'Hello' });
  assert.deepEqual(sender, { type: 'agent', id: agent.id, name: 'Grace' });
  const other = await makeConversation(ws);
  await patchConversation(graces, other.id, { status: 'pending' });
  assert.deepEqual((await messagesOf(ws, other.id))[0].sender, {
    type: 'agent',
    id: agent.id,
    name: 'Grace',
  });
});

test('a customer’s message is of the contact', async () => {
  const channel = await makeChannel(ws);
  const { message, contact } = await receive(ws, channel.id, { from: { external_id: 'x', name: 'Ada' } });
  assert.equal(message.type, 'incoming');
  assert.deepEqual(message.sender, { type: 'contact', id: contact.id, name: 'Ada' });
});

test('private true stores an internal note, listed with private true and without a delivery status', async () => {
  const { id } = await makeConversation(ws);
  const note = await sendMessage(ws, id, { content: 'Call them', private: true });
  assert.equal(note.private, true);
  assert.equal(note.status, null);
  assert.deepEqual(await messagesOf(ws, id), [note]);
});

test('private false sends a message that is no note', async () => {
  assert.equal((await sendMessage(ws, shared.id, { content: 'Hello', private: false })).private, false);
});

test('on an api channel without callback_url a message is stored and marked sent', async () => {
  assert.equal((await sendMessage(ws, shared.id, { content: 'Hello' })).status, 'sent');
});

test('on a channel that sends messages out a message begins as queued, a note never does', async () => {
  const settings = { callback_url: 'https://93.184.215.14/messages' };
  const channel = await makeChannel(ws, { settings });
  const { id } = await makeConversation(ws, { channel_id: channel.id });
  assert.equal((await sendMessage(ws, id, { content: 'Hello' })).status, 'queued');
  assert.equal((await sendMessage(ws, id, { content: 'Note', private: true })).status, null);
});

test('sending does not change the status of the conversation', async () => {
  const { id } = await makeConversation(ws);
  for (const status of ['open', 'pending', 'resolved', 'snoozed']) {
    await patchConversation(ws, id, { status });
    await sendMessage(ws, id, { content: 'Hello' });
    assert.equal((await read(ws, `/conversations/${id}`)).status, status);
  }
});

test('messages sent at the same time are all kept, each once, in one order', async () => {
  const { id } = await makeConversation(ws);
  const sent = await inParallel(Array.from({ length: 40 }), 20, (_, n) =>
    sendMessage(ws, id, { content: `${n}` }),
  );
  const listed = await messagesOf(ws, id);
  assert.deepEqual(contents(listed).toSorted(), contents(sent).toSorted());
  const backwards = await read(ws, `/conversations/${id}/messages?order=desc&per_page=100`);
  assert.deepEqual(contents(backwards), contents(listed).toReversed());
});

test('messages cannot be changed or deleted: PUT, PATCH and DELETE answer 404', async () => {
  const { id } = await sendMessage(ws, shared.id, { content: 'Hello' });
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    assertError(await ws.request(method, `/conversations/${shared.id}/messages/${id}`), 404);
  }
});
