import assert from 'node:assert/strict';
import test from 'node:test';
import { fromId } from '../../server/ids.ts';
import {
  assertError,
  create,
  type Data,
  makeChannel,
  makeContact,
  makeConversation,
  makeTemplate,
  messagesOf,
  read,
  receive,
  sendMessage,
} from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const whatsapp = await makeChannel(ws, { type: 'whatsapp', name: 'WhatsApp' });
const template = await makeTemplate(ws, { body: 'Hello {{name}}' });
const byTemplate = { template_id: template.id, template_variables: { name: 'Ada' } };
let customers = 0;

const hourMs = 3_600_000;
const newCustomer = () => ({ phone: `+49151${1_000_000 + customers++}` });

/** As if the customer's last message were that old. */
async function age(conversationId: string, by: string) {
  await service.sql(
    `update conversations set last_incoming_at = clock_timestamp() - $2::interval where id = $1`,
    [fromId('conversation', conversationId), by],
  );
}

const send = (id: string, body: unknown) => ws.request('POST', `/conversations/${id}/messages`, body);
const outbound = (): Promise<Data> => makeConversation(ws, { channel_id: whatsapp.id });
const written = async (): Promise<Data> =>
  (await receive(ws, whatsapp.id, { from: newCustomer() })).conversation;

test('on whatsapp text is refused with 422 before the customer has written', async () => {
  const { id } = await outbound();
  assertError(await send(id, { content: 'Hello' }), 422, 'content');
  assert.deepEqual(await messagesOf(ws, id), []);
});

test('the refusal names templates as the way out', async () => {
  const { id } = await outbound();
  assert.match(assertError(await send(id, { content: 'Hello' }), 422).message, /template/i);
});

test('on whatsapp a template is accepted before the customer has written', async () => {
  const { id } = await outbound();
  assert.equal((await sendMessage(ws, id, byTemplate)).content, 'Hello Ada');
});

test('on whatsapp text is accepted after the customer has written', async () => {
  const { id } = await written();
  assert.equal((await sendMessage(ws, id, { content: 'Hello' })).content, 'Hello');
});

test('on whatsapp text is accepted until 24 hours after the customer wrote', async () => {
  const { id } = await written();
  await age(id, '23 hours 59 minutes 30 seconds');
  assert.equal((await send(id, { content: 'Hello' })).status, 201);
});

test('on whatsapp text is refused from 24 hours after the customer wrote', async () => {
  const { id } = await written();
  await age(id, '24 hours');
  assertError(await send(id, { content: 'Hello' }), 422, 'content');
});

test('on whatsapp a template is accepted after 24 hours', async () => {
  const { id } = await written();
  await age(id, '25 hours');
  assert.equal((await send(id, byTemplate)).status, 201);
});

test('our own messages do not open the window', async () => {
  const { id } = await outbound();
  await sendMessage(ws, id, byTemplate);
  assertError(await send(id, { content: 'Hello' }), 422);
});

test('a new message of the customer opens the window again', async () => {
  const from = newCustomer();
  const { conversation } = await receive(ws, whatsapp.id, { from });
  await age(conversation.id, '3 days');
  assertError(await send(conversation.id, { content: 'Hello' }), 422);
  await receive(ws, whatsapp.id, { from });
  assert.equal((await send(conversation.id, { content: 'Hello' })).status, 201);
});

test('the window belongs to customer and channel: a second conversation with them is open too', async () => {
  const { contact } = await receive(ws, whatsapp.id, { from: newCustomer() });
  const second = await makeConversation(ws, { contact_id: contact.id, channel_id: whatsapp.id });
  assert.equal(second.reply_window.open, true);
  assert.equal((await send(second.id, { content: 'Hello' })).status, 201);
});

test('a message on another channel does not open the window', async () => {
  const other = await makeChannel(ws, { type: 'whatsapp', name: 'Second number' });
  const { contact } = await receive(ws, other.id, { from: newCustomer() });
  const { id } = await makeConversation(ws, { contact_id: contact.id, channel_id: whatsapp.id });
  assertError(await send(id, { content: 'Hello' }), 422);
});

test('an internal note is accepted with the window closed', async () => {
  const { id } = await outbound();
  assert.equal((await send(id, { content: 'Call them', private: true })).status, 201);
});

test('POST /conversations with text on whatsapp before the customer has written answers 422 and creates nothing', async () => {
  const { id: contact_id } = await makeContact(ws);
  const body = { contact_id, channel_id: whatsapp.id };
  const answer = await ws.request('POST', '/conversations', { ...body, message: { content: 'Hello' } });
  assertError(answer, 422, 'message.content');
  assert.deepEqual(await read(ws, `/conversations?contact_id=${contact_id}`), []);
});

test('POST /conversations with a template on whatsapp is accepted before the customer has written', async () => {
  const { id: contact_id } = await makeContact(ws);
  const body = { contact_id, channel_id: whatsapp.id, message: byTemplate };
  const { id } = await create(ws, '/conversations', body);
  assert.deepEqual(
    (await messagesOf(ws, id)).map(({ content }) => content),
    ['Hello Ada'],
  );
});

test('reply_window is closed without an end before the customer has written', async () => {
  assert.deepEqual((await outbound()).reply_window, { open: false, expires_at: null });
});

test('reply_window is open until 24 hours after the last incoming message', async () => {
  const { message, conversation } = await receive(ws, whatsapp.id, { from: newCustomer() });
  const expires_at = new Date(Date.parse(message.created_at) + 24 * hourMs).toISOString();
  assert.deepEqual(conversation.reply_window, { open: true, expires_at });
  assert.deepEqual((await read(ws, `/conversations/${conversation.id}`)).reply_window, {
    open: true,
    expires_at,
  });
});

test('reply_window is closed, with the end it had, after 24 hours', async () => {
  const { id } = await written();
  await age(id, '30 hours');
  const { reply_window } = await read(ws, `/conversations/${id}`);
  assert.equal(reply_window.open, false);
  const endedHoursAgo = (Date.now() - Date.parse(reply_window.expires_at)) / hourMs;
  assert.ok(Math.abs(endedHoursAgo - 6) < 0.1);
});

for (const type of ['api', 'webchat']) {
  test(`a channel of type ${type} has no window: text is accepted at any time`, async () => {
    const channel = await makeChannel(ws, { type });
    const conversation = await makeConversation(ws, { channel_id: channel.id });
    assert.deepEqual(conversation.reply_window, { open: true, expires_at: null });
    assert.equal((await send(conversation.id, { content: 'Hello' })).status, 201);
    await age(conversation.id, '30 days');
    assert.equal((await send(conversation.id, { content: 'Hello' })).status, 201);
    const { reply_window } = await read(ws, `/conversations/${conversation.id}`);
    assert.deepEqual(reply_window, { open: true, expires_at: null });
  });
}
