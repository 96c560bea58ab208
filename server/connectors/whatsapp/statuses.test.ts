import assert from 'node:assert/strict';
import test from 'node:test';
import type { SentMessage } from '../../../emulator/whatsapp/store.ts';
import { messagesOf, sendMessage } from '../../../test/factory.ts';
import type { Workspace } from '../../../test/harness.ts';
import { eventually } from '../../../test/receiver.ts';
import {
  conversationWith,
  counted,
  makeWhatsapp,
  newCustomer,
  startSendingService,
  type WhatsappChannel,
} from '../../../test/whatsapp.ts';

const service = await startSendingService();
const ws = await service.workspace();
// What the platform reports is told by each test itself.
const channel = await makeWhatsapp(service, ws, { statuses: 'off' });
const second = await makeWhatsapp(service, ws, { statuses: 'off' });
const others = await service.workspace();
const foreign = await makeWhatsapp(service, others, { statuses: 'off' });
const patient = await startSendingService({ env: { INBOX_CHANNEL_RETRY_SECONDS: '60' } });
const patientWs = await patient.workspace();
const patientChannel = await makeWhatsapp(patient, patientWs);

interface Sent {
  id: string;
  conversationId: string;
  wamid: string;
}

/** A message that the platform has taken, of a customer who wrote before. */
async function sendOne(workspace: Workspace, { emulator }: WhatsappChannel): Promise<Sent> {
  const from = newCustomer();
  await emulator.customerSends({ from, text: 'Hi' });
  const conversation = await conversationWith(workspace, `+${from}`);
  const { id } = await sendMessage(workspace, conversation.id, { content: 'Hello' });
  const { wamid } = await eventually(() => sentAs(emulator.sent, id));
  await eventually(async () =>
    assert.notEqual((await find(workspace, conversation.id, id)).status, 'queued'),
  );
  return { id, conversationId: conversation.id, wamid };
}

function sentAs(sent: SentMessage[], id: string): SentMessage {
  const found = sent.find(({ body }) => body.biz_opaque_callback_data === id);
  assert.ok(found, `${id} was not sent`);
  return found;
}

const find = async (workspace: Workspace, conversationId: string, id: string) =>
  (await messagesOf(workspace, conversationId)).find((message) => message.id === id);

const state = async ({ conversationId, id }: Sent, workspace = ws) => {
  const { status, error } = await find(workspace, conversationId, id);
  return { status, error };
};

const failure = { code: 131026, title: 'Message undeliverable', message: 'Message undeliverable' };

function report({ emulator }: WhatsappChannel, id: string, status: string, more: object = {}) {
  const errors = status === 'failed' ? { errors: [failure] } : {};
  const one = { id, status, timestamp: '1763199000', recipient_id: '491', ...errors, ...more };
  return emulator.post(emulator.payload({ statuses: [one] }));
}

const orders: Record<string, string[][]> = {
  read: [
    ['sent', 'delivered', 'read'],
    ['read', 'delivered', 'sent'],
    ['delivered', 'read', 'delivered', 'sent', 'read'],
    ['read'],
    ['failed', 'read'],
    ['played'],
  ],
  delivered: [
    ['delivered', 'sent'],
    ['delivered', 'failed'],
    ['failed', 'sent', 'delivered'],
  ],
  sent: [['sent', 'sent']],
  failed: [
    ['failed', 'sent'],
    ['sent', 'failed', 'failed'],
  ],
};

for (const [end, lists] of Object.entries(orders)) {
  test(`${lists.map((list) => list.join(', ')).join('; ')}: each ends in ${end}`, async () => {
    await Promise.all(
      lists.map(async (list) => {
        const sent = await sendOne(ws, channel);
        for (const status of list) assert.equal((await report(channel, sent.wamid, status)).status, 200);
        const { status, error } = await state(sent);
        assert.equal(status, end, list.join(', '));
        assert.equal(error === null, end !== 'failed');
      }),
    );
  });
}

test('reports at once end where the furthest is', async () => {
  const sent = await sendOne(ws, channel);
  const list = ['sent', 'delivered', 'failed', 'read', 'sent', 'delivered', 'read', 'failed'];
  await Promise.all(list.map((status) => report(channel, sent.wamid, status)));
  assert.deepEqual(await state(sent), { status: 'read', error: null });
});

test('a failed message says why, in words for the agent and in Meta’s', async () => {
  const sent = await sendOne(ws, channel);
  await channel.emulator.fail(sent.wamid, 131047);
  const { status, error } = await state(sent);
  assert.equal(status, 'failed');
  assert.match(
    error,
    /^More than 24 hours .* send a template instead\. \(Meta 131047: Message failed to send/,
  );
});

test('a failure without a code, or with a strange one, is a failure all the same', async () => {
  const strange = [
    undefined,
    [],
    [null],
    'broken',
    [{ code: { toString: 1 } }],
    [{ code: 'constructor', title: '\u0000\uD800' }],
  ];
  await Promise.all(
    strange.map(async (errors) => {
      const sent = await sendOne(ws, channel);
      assert.equal((await report(channel, sent.wamid, 'failed', { errors })).status, 200);
      assert.match((await state(sent)).error, /^WhatsApp refused it\. \(Meta gives no code/);
    }),
  );
});

test('reports about messages we do not know are counted, not errors', async () => {
  const before = await counted(service.origin, 'inbox_channel_received_total', 'whatsapp', 'unknown_status');
  const answer = await report(channel, 'wamid.of-somebody-else', 'delivered');
  assert.equal(answer.status, 200);
  const after = await counted(service.origin, 'inbox_channel_received_total', 'whatsapp', 'unknown_status');
  assert.equal(after, before + 1);
});

test('a report never touches a message of another channel or workspace', async () => {
  const sent = await sendOne(ws, channel);
  for (const other of [second, foreign]) {
    await report(other, sent.wamid, 'read');
    await report(other, 'wamid.forged', 'read', { biz_opaque_callback_data: sent.id });
  }
  assert.deepEqual(await state(sent), { status: 'sent', error: null });
  const theirs = await sendOne(others, foreign);
  await report(channel, theirs.wamid, 'read', { biz_opaque_callback_data: theirs.id });
  assert.deepEqual(await state(theirs, others), { status: 'sent', error: null });
});

test('a report never touches an internal note or what the customer wrote, nor takes their names', async () => {
  const { conversationId } = await sendOne(ws, channel);
  const note = await sendMessage(ws, conversationId, { content: 'Note', private: true });
  const [incoming] = await messagesOf(ws, conversationId);
  const wamid = channel.emulator.received.at(-1)!.wamid;
  const before = await messagesOf(ws, conversationId);
  for (const id of [note.id, incoming.id]) {
    await report(channel, wamid, 'read', { biz_opaque_callback_data: id });
    await report(channel, `wamid.of-${id}`, 'failed', { biz_opaque_callback_data: id });
  }
  assert.deepEqual(await messagesOf(ws, conversationId), before);
  const taken = await service.sql('select from message_external_ids where external_id like $1', [
    'wamid.of-%',
  ]);
  assert.deepEqual(taken, []);
});

test('a report that comes before the answer to the send is not undone by it', async () => {
  const { conversationId } = await sendOne(ws, channel);
  channel.emulator.delayNext(300);
  const { id } = await sendMessage(ws, conversationId, { content: 'Slow' });
  const { wamid } = await eventually(() => sentAs(channel.emulator.sent, id));
  const sent = { id, conversationId, wamid };
  await report(channel, wamid, 'read', { biz_opaque_callback_data: id });
  assert.equal((await state(sent)).status, 'read');
  await eventually(() => assert.equal(channel.emulator.requests.at(-1)?.status, 200, 'the send is answered'));
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal((await state(sent)).status, 'read');
  assert.equal(channel.emulator.sent.filter(({ body }) => body.biz_opaque_callback_data === id).length, 1);
});

for (const [what, statusDelayMs, lose] of [
  ['an answer that was cut off', 0, () => patientChannel.emulator.dropAnswerNext()],
  ['an answer that was cut off long before', 300, () => patientChannel.emulator.dropAnswerNext()],
  ['an answer that never came', 0, () => patientChannel.emulator.hangNext({ accept: true })],
] as const) {
  test(`${what} is made good by the report: the customer gets it once, and the next one follows`, async () => {
    const { emulator } = patientChannel;
    const from = newCustomer();
    await emulator.customerSends({ from, text: 'Hi' });
    const { id } = await conversationWith(patientWs, `+${from}`);
    emulator.behaviour.statusDelayMs = statusDelayMs;
    lose();
    await sendMessage(patientWs, id, { content: 'First' });
    await sendMessage(patientWs, id, { content: 'Second' });
    await eventually(async () => {
      const outgoing = (await messagesOf(patientWs, id)).filter(({ type }) => type === 'outgoing');
      assert.deepEqual(
        outgoing.map(({ status }) => status),
        ['delivered', 'delivered'],
      );
    });
    const got = emulator.sent.filter(({ to }) => to === from).map(({ body }) => body['text']);
    assert.deepEqual(
      got.map((text) => (text as { body: string }).body),
      ['First', 'Second'],
    );
  });
}

test('a lost answer without any report is sent again later', async () => {
  const { conversationId } = await sendOne(ws, channel);
  channel.emulator.dropAnswerNext();
  const { id } = await sendMessage(ws, conversationId, { content: 'Perhaps twice' });
  const times = () =>
    channel.emulator.sent.filter(({ body }) => body.biz_opaque_callback_data === id).map(({ at }) => at);
  await eventually(() => assert.equal(times().length, 2));
  assert.ok(times()[1]!.getTime() - times()[0]!.getTime() >= 200, 'time was given for a report');
  await eventually(async () => assert.equal((await find(ws, conversationId, id)).status, 'sent'));
  // Both copies are known: whichever the customer reads counts.
  await report(channel, sentAs(channel.emulator.sent, id).wamid, 'read', { biz_opaque_callback_data: id });
  assert.equal((await find(ws, conversationId, id)).status, 'read');
});

test('a message given up because no answer came is sent after all when the platform says so', async () => {
  const { conversationId } = await sendOne(ws, channel);
  channel.emulator.dropAnswerNext({ times: 4 });
  const { id } = await sendMessage(ws, conversationId, { content: 'Given up' });
  await eventually(async () => assert.equal((await find(ws, conversationId, id)).status, 'failed'));
  const { wamid } = sentAs(channel.emulator.sent, id);
  const sent = { id, conversationId, wamid };
  await report(channel, wamid, 'sent', { biz_opaque_callback_data: id });
  assert.deepEqual(await state(sent), { status: 'sent', error: null });
  await report(channel, wamid, 'failed');
  await report(channel, wamid, 'sent', { biz_opaque_callback_data: id });
  assert.equal((await state(sent)).status, 'failed', 'the platform’s own failure stays');
});

test('a status that is called like a member of every object is ignored, and the message waits on', async () => {
  const sent = await sendOne(ws, channel);
  for (const status of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    const answer = await report(channel, `wamid.${status}`, status, { biz_opaque_callback_data: sent.id });
    assert.equal(answer.status, 200);
  }
  assert.deepEqual(await state(sent), { status: 'sent', error: null });
});
