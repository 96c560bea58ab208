import assert from 'node:assert/strict';
import test from 'node:test';
import {
  assertError,
  create,
  type Data,
  makeChannel,
  makeConversation,
  messagesOf,
  patchConversation,
  receive,
  sendMessage,
} from '../../../test/factory.ts';
import { lineOptions } from '../../../test/lines.ts';
import { eventually, type Receiver, startReceiver } from '../../../test/receiver.ts';
import { startSendingService } from '../../../test/whatsapp.ts';

const service = await startSendingService(lineOptions);
const ws = await service.workspace();

async function calledBack(): Promise<{ receiver: Receiver; channel: Data }> {
  const receiver = await startReceiver();
  const settings = { callback_url: receiver.url('/messages') };
  return { receiver, channel: await create(ws, '/channels', { type: 'api', name: 'Shop', settings }) };
}

const ended = (conversationId: string) =>
  eventually(async () => {
    const message = (await messagesOf(ws, conversationId)).findLast(({ type }) => type === 'outgoing');
    assert.notEqual(message.status, 'queued');
    return message;
  });

for (const [what, name] of [
  ['a NUL in it', 'a\u0000b'],
  ['half a character', 'a\ud800'],
  ['8,000 characters', 'x'.repeat(8_000)],
  ['another type', 7],
] as const) {
  test(`a callback that names the message with ${what} has taken it all the same, once`, async () => {
    const { receiver, channel } = await calledBack();
    receiver.answer((_received, response) => void response.end(JSON.stringify({ external_id: name })));
    const { id } = await makeConversation(ws, { channel_id: channel.id });
    await sendMessage(ws, id, { content: 'x' });
    assert.equal((await ended(id)).status, 'sent');
    assert.equal(receiver.received.length, 1);
  });
}

test('a result that the database will not take holds up no other, and is recorded without its details', async () => {
  const [poisoned, healthy] = [await calledBack(), await calledBack()];
  const other = await service.workspace();
  poisoned.receiver.answer((_received, response) => void response.end('{"external_id":"poison"}'));
  await service.sql(`create function refuse() returns trigger language plpgsql as
    $$ begin if new.external_id = 'poison' then raise check_violation; end if; return new; end $$`);
  await service.sql(
    `create trigger refuse before insert on message_external_ids for each row execute function refuse()`,
  );
  const one = await makeConversation(ws, { channel_id: poisoned.channel.id });
  const two = await makeConversation(ws, { channel_id: healthy.channel.id });
  await Promise.all([
    sendMessage(ws, one.id, { content: 'poisoned' }),
    ...Array.from({ length: 5 }, (_, n) => sendMessage(ws, two.id, { content: `healthy ${n}` })),
  ]);
  assert.equal((await ended(one.id)).status, 'sent');
  await healthy.receiver.waitFor(5);
  await eventually(async () => {
    const statuses = (await messagesOf(ws, two.id)).map(({ status }) => status);
    assert.deepEqual(
      statuses,
      Array.from({ length: 5 }, () => 'sent'),
    );
  });
  assert.equal(poisoned.receiver.received.length, 1);
  assert.equal(healthy.receiver.received.length, 5);
  assert.equal((await other.request('GET', '/conversations')).status, 200);
  await service.sql('drop trigger refuse on message_external_ids');
});

test('a customer’s message is stored although one of ours has the same name on the other side', async () => {
  const { receiver, channel } = await calledBack();
  receiver.answer((_received, response) => void response.end('{"external_id":"1"}'));
  const { conversation } = await receive(ws, channel.id, { from: { external_id: 'ada' } });
  await sendMessage(ws, conversation.id, { content: 'ours' });
  await ended(conversation.id);
  const body = { from: { external_id: 'ada' }, content: 'theirs', external_id: '1' };
  const first = await ws.request('POST', `/channels/${channel.id}/inbound`, body);
  assert.equal(first.status, 201);
  assert.equal(first.body.data.message.content, 'theirs');
  const again = await ws.request('POST', `/channels/${channel.id}/inbound`, body);
  assert.deepEqual([again.status, again.body.data.message.id], [200, first.body.data.message.id]);
});

test('an answer goes to the name under which the customer last wrote in the conversation', async () => {
  const { receiver, channel } = await calledBack();
  const phone = '+4915112345678';
  const write = (external_id: string) => receive(ws, channel.id, { from: { external_id, phone } });
  const { conversation } = await write('zz-first');
  await write('aa-second');
  await sendMessage(ws, conversation.id, { content: 'to the second' });
  await receiver.waitFor(1);
  await write('zz-first');
  await sendMessage(ws, conversation.id, { content: 'to the first' });
  await receiver.waitFor(2);
  const names = receiver.received.map(({ body }) => JSON.parse(body).contact.external_id);
  assert.deepEqual(names, ['aa-second', 'zz-first']);
});

test('a message that no callback took before the URL was removed has failed, not been sent', async () => {
  const { receiver, channel } = await calledBack();
  const held = Promise.withResolvers<void>();
  receiver.answer((_received, response) => void held.promise.then(() => response.writeHead(503).end()));
  const { id } = await makeConversation(ws, { channel_id: channel.id });
  await sendMessage(ws, id, { content: 'waiting' });
  await receiver.waitFor(1);
  await ws.request('PATCH', `/channels/${channel.id}`, { settings: { callback_url: null } });
  held.resolve();
  const { status, error } = await ended(id);
  assert.deepEqual(
    [status, error],
    ['failed', 'The channel has lost its callback_url before this message was taken.'],
  );
});

test('an archived channel takes no new message to its customers; a private note it does', async () => {
  const channel = await makeChannel(ws);
  const { id } = await makeConversation(ws, { channel_id: channel.id });
  await ws.request('DELETE', `/channels/${channel.id}`);
  const path = `/conversations/${id}/messages`;
  assertError(await ws.request('POST', path, { content: 'x' }), 422, 'channel');
  assert.equal((await ws.request('POST', path, { content: 'x', private: true })).status, 201);
  await patchConversation(ws, id, { status: 'resolved' });
  await ws.request('PATCH', `/channels/${channel.id}`, { archived: false });
  assert.equal((await ws.request('POST', path, { content: 'x' })).status, 201);
});

for (const [field, attachment] of [
  ['content_type', { content_type: 'image/png;\r\n\r\ninjected' }],
  ['content_type', { content_type: '' }],
  ['content_type', { content_type: 'x' }],
  ['file_name', { file_name: 'a\r\nb' }],
  ['file_name', { file_name: '' }],
] as const) {
  test(`an attachment with ${JSON.stringify(attachment)} answers 422`, async () => {
    const { id } = await makeConversation(ws);
    const good = { url: 'https://93.184.215.14/a.png', content_type: 'image/png', file_name: 'a.png' };
    const body = { attachments: [{ ...good, ...attachment }] };
    const answer = await ws.request('POST', `/conversations/${id}/messages`, body);
    assertError(answer, 422, `attachments.0.${field}`);
  });
}
