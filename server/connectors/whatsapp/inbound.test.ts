import assert from 'node:assert/strict';
import test from 'node:test';
import type { CustomerMessage } from '../../../emulator/whatsapp/customer.ts';
import { create, makeContact, makeConversation, messagesOf, read } from '../../../test/factory.ts';
import { startService } from '../../../test/harness.ts';
import {
  conversationWith,
  customersFound,
  emulatorEnv,
  makeWhatsapp,
  newCustomer,
} from '../../../test/whatsapp.ts';

const service = await startService({ env: emulatorEnv });
const ws = await service.workspace();
const { id: channelId, emulator } = await makeWhatsapp(service, ws);

/** What an agent reads once the customer has sent it. */
async function contentAfter(message: Omit<CustomerMessage, 'from'>): Promise<string> {
  const from = newCustomer();
  await emulator.customerSends({ from, ...message });
  const [received] = await messagesOf(ws, (await conversationWith(ws, `+${from}`)).id);
  assert.equal(received.type, 'incoming');
  assert.equal(received.status, null);
  return received.content;
}

test('a text arrives as it was written, from a contact with the name and phone of the payload', async () => {
  const from = newCustomer();
  const text = 'Grüße  \u{1F98A}\n\u2028 </b> {{1}} \\ "';
  await emulator.customerSends({ from, name: 'Zoë \u{1F98A}', text });
  const conversation = await conversationWith(ws, `+${from}`);
  assert.equal(conversation.channel.id, channelId);
  assert.equal(conversation.contact.name, 'Zoë \u{1F98A}');
  assert.equal(conversation.contact.phone, `+${from}`);
  const [message] = await messagesOf(ws, conversation.id);
  assert.equal(message.content, text);
  assert.equal(message.sender.id, conversation.contact.id);
});

test('a customer without a profile name is called by the phone number', async () => {
  const from = newCustomer();
  await emulator.customerSends({ from, name: null, text: 'Hi' });
  assert.equal((await conversationWith(ws, `+${from}`)).contact.name, `+${from}`);
});

test('a location becomes its name and a link to the map', async () => {
  const place = { latitude: 52.5163, longitude: 13.3777 };
  const link = 'https://maps.google.com/?q=52.5163,13.3777';
  assert.equal(await contentAfter({ location: place }), link);
  assert.equal(
    await contentAfter({ location: { ...place, name: 'Gate', address: 'Pariser Platz' } }),
    `Gate, Pariser Platz\n${link}`,
  );
});

test('buttons, lists, contact cards and reactions become what a person would read', async () => {
  assert.equal(await contentAfter({ button: { text: 'Yes, please', payload: 'YES' } }), 'Yes, please');
  const reply = { id: 'r1', title: 'Express', description: 'Tomorrow' };
  assert.equal(
    await contentAfter({ interactive: { type: 'list_reply', list_reply: reply } }),
    'Express\nTomorrow',
  );
  const card = {
    name: { formatted_name: 'Grace' },
    phones: [{ phone: '+1 555 0100' }, { phone: '+1 555 0101' }],
  };
  assert.equal(await contentAfter({ contacts: [card] }), 'Grace +1 555 0100 +1 555 0101');
  assert.equal(await contentAfter({ reaction: { message_id: 'wamid.x', emoji: '\u{1F44D}' } }), '\u{1F44D}');
});

test('what has no text for a person is told by its type, not dropped', async () => {
  assert.equal(await contentAfter({ raw: { type: 'order', order: { catalog_id: '1' } } }), '[order]');
  assert.equal(
    await contentAfter({ raw: { type: 'unsupported', errors: [{ code: 131051 }] } }),
    '[unsupported]',
  );
  assert.equal(await contentAfter({ text: ' \n\t ' }), '[text]');
  assert.equal(await contentAfter({ raw: { type: 'location', location: {} } }), '[location]');
  assert.equal(await contentAfter({ reaction: { message_id: 'wamid.x' } }), '[reaction]');
  assert.equal(await contentAfter({ raw: { type: 'image', image: { mime_type: 'image/png' } } }), '[image]');
});

test('what PostgreSQL cannot hold is replaced, and a long text is kept whole', async () => {
  const raw = (body: string) => ({ raw: { type: 'text', text: { body } } });
  assert.equal(await contentAfter(raw('a\u0000b\uD83Ec')), 'a\uFFFDb\uFFFDc');
  const long = '\u{1F98A}'.repeat(200_000);
  assert.equal((await contentAfter(raw(long))).length, long.length);
});

test('names too long for a contact or a file are cut between characters', async () => {
  const from = newCustomer();
  const long = '\u{1F98A}'.repeat(300);
  const document = { bytes: Buffer.from('x'), mime: 'application/pdf', filename: `a${long}` };
  await emulator.customerSends({ from, name: `a${long}`, document });
  const { id, contact } = await conversationWith(ws, `+${from}`);
  const [{ attachments }] = await messagesOf(ws, id);
  assert.equal(contact.name, `a${'\u{1F98A}'.repeat(254)}`);
  assert.equal(attachments[0].file_name, `a${'\u{1F98A}'.repeat(254)}`);
});

test('a second message continues the conversation, a resolved one is reopened', async () => {
  const from = newCustomer();
  await emulator.customerSends({ from, text: 'One' });
  const { id } = await conversationWith(ws, `+${from}`);
  await ws.request('PATCH', `/conversations/${id}`, { status: 'resolved' });
  await emulator.customerSends({ from, text: 'Two' });
  assert.equal((await conversationWith(ws, `+${from}`)).status, 'open');
  const contents = (await messagesOf(ws, id)).filter(({ type }) => type === 'incoming');
  assert.deepEqual(
    contents.map(({ content }) => content),
    ['One', 'Two'],
  );
});

test('a reply to a conversation that was begun here lands in it', async () => {
  const from = newCustomer();
  const contact = await makeContact(ws, { name: 'Known before', phone: `+${from}` });
  const conversation = await makeConversation(ws, { contact_id: contact.id, channel_id: channelId });
  await emulator.customerSends({ from, name: 'What they call themselves', text: 'Hello' });
  assert.equal((await messagesOf(ws, conversation.id)).length, 1);
  assert.equal((await conversationWith(ws, `+${from}`)).contact.name, 'Known before');
});

for (const [country, phone, waId] of [
  ['Mexico', '+525512345678', '5215512345678'],
  ['Mexico', '+5215512345679', '525512345679'],
  ['Argentina', '+541123456789', '5491123456789'],
  ['Argentina', '+5491123456780', '541123456780'],
  ['Brazil', '+5531987654321', '553187654321'],
  ['Brazil', '+553187654322', '5531987654322'],
] as const) {
  test(`${country}: ${waId} on WhatsApp is the contact with the phone ${phone}`, async () => {
    const contact = await makeContact(ws, { name: 'Imported', phone });
    await emulator.customerSends({ from: waId, text: 'One' });
    await emulator.customerSends({ from: waId, text: 'Two' });
    const [customer, ...others] = await customersFound(ws, phone);
    assert.deepEqual(others, []);
    assert.equal(customer.id, contact.id);
    assert.equal(customer.conversations.length, 1);
    assert.deepEqual(await customersFound(ws, `+${waId}`), []);
  });
}

test('a contact who has exactly the number is found before one who has it written otherwise', async () => {
  await makeContact(ws, { phone: '+525500000001' });
  const exact = await makeContact(ws, { phone: '+5215500000001' });
  await emulator.customerSends({ from: '5215500000001', text: 'Hi' });
  assert.equal((await conversationWith(ws, '+5215500000001')).contact.id, exact.id);
});

test('a number that is no phone number is an identity all the same', async () => {
  const from = '012345678901234567';
  await emulator.customerSends({ from, name: 'Short code', text: 'One' });
  await emulator.customerSends({ from, text: 'Two' });
  const conversation = await conversationWith(ws, 'Short code');
  assert.equal(conversation.contact.phone, null);
  assert.equal((await messagesOf(ws, conversation.id)).length, 2);
});

test('several entries, changes and messages in one webhook are all taken, in their order', async () => {
  const [first, second] = [newCustomer(), newCustomer()];
  const text = (from: string, n: number) => ({
    id: `wamid.batch-${from}-${n}`,
    from,
    timestamp: String(Math.floor(Date.now() / 1000)),
    type: 'text',
    text: { body: `Message ${n}` },
  });
  const entryOf = (...messages: unknown[]) => {
    const { entry } = emulator.payload({ messages }) as { entry: unknown[] };
    return entry[0];
  };
  const entry = [
    entryOf(text(first, 1), text(second, 1)),
    entryOf(text(first, 2)),
    entryOf(text(second, 2), text(second, 3)),
  ];
  const answer = await emulator.post({ object: 'whatsapp_business_account', entry });
  assert.deepEqual(JSON.parse(answer.body).data, { messages: 5, statuses: 0, ignored: 0 });
  for (const [from, count] of [
    [first, 2],
    [second, 3],
  ] as const) {
    const messages = await messagesOf(ws, (await conversationWith(ws, `+${from}`)).id);
    const wanted = Array.from({ length: count }, (_, n) => `Message ${n + 1}`);
    assert.deepEqual(
      messages.map(({ content }) => content),
      wanted,
    );
  }
});

test('the same message in twenty webhooks at once is stored once, with its media', async () => {
  const from = newCustomer();
  const message = {
    id: `wamid.once-${from}`,
    from,
    timestamp: String(Math.floor(Date.now() / 1000)),
    type: 'image',
    image: { id: `media-of-${from}`, mime_type: 'image/png', sha256: 'x' },
  };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => emulator.post(emulator.payload({ messages: [message] }))),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal((await messagesOf(ws, (await conversationWith(ws, `+${from}`)).id)).length, 1);
  const rows = await service.sql('select from media where external_id = $1', [message.image.id]);
  assert.equal(rows.length, 1);
});

test('twenty first messages of one customer at once are one contact and one conversation', async () => {
  const from = newCustomer();
  const texts = Array.from({ length: 20 }, (_, n) => `Message ${n}`);
  await Promise.all(texts.map((text) => emulator.customerSends({ from, text })));
  const messages = await messagesOf(ws, (await conversationWith(ws, `+${from}`)).id);
  assert.equal(messages.length, texts.length);
  assert.deepEqual(new Set(messages.map(({ content }) => content)), new Set(texts));
});

test('the 24 hours count from when the customer wrote, not from when it came', async () => {
  const from = newCustomer();
  const at = new Date(Math.floor(Date.now() / 1000) * 1000 - 23 * 3_600_000);
  await emulator.customerSends({ from, text: 'Delayed', at });
  const { reply_window } = await conversationWith(ws, `+${from}`);
  assert.equal(reply_window.open, true);
  assert.equal(Date.parse(reply_window.expires_at), at.getTime() + 24 * 3_600_000);
});

test('a message that is older than that opens nothing, and takes nothing away', async () => {
  const from = newCustomer();
  const old = new Date(Date.now() - 25 * 3_600_000);
  await emulator.customerSends({ from, text: 'Very late', at: old });
  const { id, reply_window } = await conversationWith(ws, `+${from}`);
  assert.equal(reply_window.open, false);
  const refused = await ws.request('POST', `/conversations/${id}/messages`, { content: 'Hi' });
  assert.equal(refused.status, 422);
  assert.equal(refused.body.error.details[0].rule, 'reply_window');
  await emulator.customerSends({ from, text: 'Now' });
  const opened = (await conversationWith(ws, `+${from}`)).reply_window;
  await emulator.customerSends({ from, text: 'Even later', at: old });
  assert.deepEqual((await conversationWith(ws, `+${from}`)).reply_window, opened);
  assert.equal(opened.open, true);
});

for (const [what, timestamp] of Object.entries({
  'in the future': '4102444800',
  'beyond any calendar': '99999999999999999999',
  'after the year 9999': '999999999999',
  'that is a word': 'yesterday',
  'that is negative': '-1',
  'that is a strange object': { valueOf: 1, toString: 1 },
  missing: undefined,
})) {
  test(`a time ${what} counts as now`, async () => {
    const from = newCustomer();
    const message = { id: `wamid.${from}`, from, timestamp, type: 'text', text: { body: 'Hi' } };
    const before = Date.now();
    assert.equal((await emulator.post(emulator.payload({ messages: [message] }))).status, 200);
    const { reply_window } = await conversationWith(ws, `+${from}`);
    const opened = Date.parse(reply_window.expires_at) - 24 * 3_600_000;
    assert.ok(opened >= before - 1_000 && opened <= Date.now() + 1_000, reply_window.expires_at);
  });
}

test('channels of two workspaces with the same number do not meet', async () => {
  const other = await service.workspace();
  const from = newCustomer();
  const second = await create(other, '/channels', {
    type: 'whatsapp',
    name: 'Same number',
    settings: emulator.channelSettings,
  });
  await emulator.customerSends({ from, text: 'To the first' });
  assert.deepEqual(await read(other, '/contacts'), []);
  emulator.setWebhookUrl(`${service.baseUrl}/channels/${second.id}/webhook`);
  const { body } = emulator.webhookLog.at(-1)!;
  assert.equal((await emulator.post(body)).status, 200);
  emulator.setWebhookUrl(`${service.baseUrl}/channels/${channelId}/webhook`);
  assert.equal((await messagesOf(other, (await conversationWith(other, `+${from}`)).id)).length, 1);
  assert.equal((await messagesOf(ws, (await conversationWith(ws, `+${from}`)).id)).length, 1);
});
