import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { verify } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import {
  assertError,
  create,
  makeConversation,
  messagesOf,
  receive,
  sendMessage,
} from '../../../test/factory.ts';
import { lineOptions } from '../../../test/lines.ts';
import { eventually, startReceiver } from '../../../test/receiver.ts';
import { startSendingService } from '../../../test/whatsapp.ts';

const service = await startSendingService({
  ...lineOptions,
  env: { INBOX_ALLOW_HTTP_WEBHOOKS: 'off', INBOX_WEBHOOK_TIMEOUT_SECONDS: '0.5' },
});
const ws = await service.workspace();

async function callback(settings: object = {}) {
  const receiver = await startReceiver();
  const channel = await create(ws, '/channels', {
    type: 'api',
    name: 'Shop',
    settings: { callback_url: receiver.url('/messages?shop=1'), ...settings },
  });
  return { receiver, channel };
}

const ended = (conversationId: string) =>
  eventually(async () => {
    const message = (await messagesOf(ws, conversationId)).findLast(({ type }) => type === 'outgoing');
    assert.notEqual(message.status, 'queued');
    return message;
  });

test('a message is one signed POST to callback_url with message, conversation, contact and channel', async () => {
  const { receiver, channel } = await callback({ secret: 'shared secret' });
  const { conversation, contact } = await receive(ws, channel.id, {
    from: { external_id: 'cust-7', name: 'Ada', email: 'ada@example.com' },
  });
  const message = await sendMessage(ws, conversation.id, { content: 'Hello \u{1F44B}' });
  const [got] = await receiver.waitFor(1);
  assert.equal(got!.path, '/messages?shop=1');
  const { id, content, type, attachments, sender, created_at } = message;
  assert.deepEqual(JSON.parse(got!.body), {
    message: { id, type, content, attachments, sender, created_at },
    conversation: { id: conversation.id },
    contact: {
      id: contact.id,
      external_id: 'cust-7',
      name: 'Ada',
      phone: null,
      email: 'ada@example.com',
    },
    channel: { id: channel.id, type: 'api' },
  });
  assert.equal(got!.headers['idempotency-key'], id);
  const signature = String(got!.headers['x-service-signature']);
  assert.ok(await verify('shared secret', got!.body, signature));
  const hex = createHmac('sha256', 'shared secret').update(got!.body).digest('hex');
  assert.equal(signature, `sha256=${hex}`);
});

test('without a secret of yours one is made, shown in that one answer, and signs as Standard Webhooks says too', async () => {
  const { receiver, channel } = await callback();
  const { secret } = channel.settings;
  assert.match(secret, /^whsec_/);
  const shown = (await ws.request('GET', `/channels/${channel.id}`)).body.data.settings;
  assert.deepEqual([shown.secret, shown.has_secret], [undefined, true]);
  const conversation = await makeConversation(ws, { channel_id: channel.id });
  await sendMessage(ws, conversation.id, { content: 'signed' });
  const [got] = await receiver.waitFor(1);
  assert.ok(await verify(secret, got!.body, String(got!.headers['x-service-signature'])));
  new Webhook(secret).verify(got!.body, got!.headers as Record<string, string>);
});

for (const [status, outcome] of [
  [400, 'failed'],
  [404, 'failed'],
  [410, 'failed'],
  [422, 'failed'],
  [301, 'sent'],
  [429, 'sent'],
  [500, 'sent'],
  [503, 'sent'],
] as const) {
  const what = outcome === 'failed' ? 'is the end of it, with the reason' : 'is tried again';
  test(`an answer of ${status} ${what}`, async () => {
    const { receiver, channel } = await callback();
    let answers = 0;
    receiver.answer((_received, response) => void response.writeHead(answers++ === 0 ? status : 200).end());
    const conversation = await makeConversation(ws, { channel_id: channel.id });
    await sendMessage(ws, conversation.id, { content: 'x' });
    const message = await ended(conversation.id);
    assert.equal(message.status, outcome);
    assert.equal(message.error, outcome === 'failed' ? `The callback URL answered ${status}.` : null);
  });
}

test('a callback that does not answer in time is tried again under the same Idempotency-Key', async () => {
  const { receiver, channel } = await callback();
  let answers = 0;
  receiver.answer((_received, response) => {
    if (answers++ > 0) response.end();
  });
  const conversation = await makeConversation(ws, { channel_id: channel.id });
  const { id } = await sendMessage(ws, conversation.id, { content: 'x' });
  assert.equal((await ended(conversation.id)).status, 'sent');
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['idempotency-key']),
    [id, id],
  );
});

test('a callback URL that has come to lead to a private address fails and is not called', async () => {
  const { receiver, channel } = await callback();
  await service.sql(
    `update channels set settings = jsonb_set(settings, '{callback_url}', '"https://10.0.0.1/x"') where name = 'Shop' and settings->>'callback_url' = $1`,
    [channel.settings.callback_url],
  );
  const conversation = await makeConversation(ws, { channel_id: channel.id });
  await sendMessage(ws, conversation.id, { content: 'x' });
  const message = await ended(conversation.id);
  assert.equal(message.error, 'The callback URL leads to an address that is not public.');
  assert.equal(receiver.received.length, 0);
});

test('attachments go along by their URL; one that leads to a private address answers 422 and nothing is stored', async () => {
  const { receiver, channel } = await callback();
  const conversation = await makeConversation(ws, { channel_id: channel.id });
  const attachment = {
    url: 'https://93.184.215.14/a.pdf',
    content_type: 'application/pdf',
    file_name: 'a.pdf',
  };
  await sendMessage(ws, conversation.id, { attachments: [attachment] });
  const [got] = await receiver.waitFor(1);
  assert.deepEqual(JSON.parse(got!.body).message.attachments, [attachment]);
  assert.equal(JSON.parse(got!.body).message.content, '');
  const inside = { attachments: [{ ...attachment, url: 'https://10.0.0.1/a.pdf' }] };
  const answer = await ws.request('POST', `/conversations/${conversation.id}/messages`, inside);
  assertError(answer, 422, 'attachments.0.url');
  assert.equal((await messagesOf(ws, conversation.id)).length, 1);
});

test('a message with neither text, template nor attachment answers 400, a blank one 422', async () => {
  const { id } = await makeConversation(ws);
  const path = `/conversations/${id}/messages`;
  assertError(await ws.request('POST', path, {}), 400, 'content');
  assertError(await ws.request('POST', path, { attachments: [] }), 400, 'content');
  assertError(await ws.request('POST', path, { content: ' ' }), 422, 'content');
  assertError(await ws.request('POST', path, { content: '', attachments: [] }), 422, 'content');
});

test('a template cannot carry attachments', async () => {
  const { id } = await makeConversation(ws);
  const attachment = {
    url: 'https://93.184.215.14/a.pdf',
    content_type: 'application/pdf',
    file_name: 'a.pdf',
  };
  const { id: template_id } = await create(ws, '/templates', { name: 'hi', body: 'Hi' });
  const body = { template_id, attachments: [attachment] };
  assertError(await ws.request('POST', `/conversations/${id}/messages`, body), 422, 'attachments');
});
