import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import {
  create,
  type Data,
  makeContact,
  makeConversation,
  messagesOf,
  read,
  receive,
  sendMessage,
} from '../../../test/factory.ts';
import { atEnd } from '../../../test/harness.ts';
import { eventually } from '../../../test/receiver.ts';
import { conversationWith, makeWhatsapp, newCustomer, startSendingService } from '../../../test/whatsapp.ts';

const service = await startSendingService();
const ws = await service.workspace();
const { id: channelId, emulator } = await makeWhatsapp(service, ws, { statuses: 'off' });
await ws.request('POST', `/channels/${channelId}/sync_templates`);
const templates: Data[] = await read(ws, '/templates');

/** Something that is in the way of the platform and answers what it likes. */
let answer = (response: ServerResponse): unknown => response.end();
const proxy = createServer((request, response) => {
  request.resume();
  request.on('end', () => answer(response));
}).listen(0, '127.0.0.1');
await once(proxy, 'listening');
atEnd(async () => {
  proxy.closeAllConnections();
  proxy.close();
});
const detour = await create(ws, '/channels', {
  type: 'whatsapp',
  name: 'Behind a proxy',
  settings: {
    ...emulator.channelSettings,
    api_base_url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/v1`,
  },
});

async function customer(): Promise<{ from: string; id: string }> {
  const from = newCustomer();
  await emulator.customerSends({ from, text: 'Hi' });
  return { from, id: (await conversationWith(ws, `+${from}`)).id };
}

/** Of the channel behind the proxy. */
async function customerThere(): Promise<string> {
  const from = newCustomer();
  emulator.setWebhookUrl(`${service.baseUrl}/channels/${detour.id}/webhook`);
  await emulator.customerSends({ from, text: 'Hi' });
  emulator.setWebhookUrl(`${service.baseUrl}/channels/${channelId}/webhook`);
  return (await conversationWith(ws, `+${from}`)).id;
}

/** How it stands once it has left or failed. */
function ended(conversationId: string, id: string): Promise<Data> {
  return eventually(async () => {
    const message = (await messagesOf(ws, conversationId)).find((one) => one.id === id);
    assert.notEqual(message.status, 'queued');
    return message;
  });
}

const to = (number: string) => emulator.sent.filter((message) => message.to === number);
const template = (name: string, language = 'en') =>
  templates.find((one) => one.name === name && one.language === language).id;

test('a text goes to the number that wrote, with our own id to come back in reports', async () => {
  const { from, id } = await customer();
  const message = await sendMessage(ws, id, { content: 'Grüße \u{1F44B}' });
  assert.equal(message.status, 'queued');
  assert.equal((await ended(id, message.id)).status, 'sent');
  const [sent] = to(from);
  assert.deepEqual(sent!.body, {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: from,
    type: 'text',
    text: { preview_url: true, body: 'Grüße \u{1F44B}' },
    biz_opaque_callback_data: message.id,
  });
  assert.equal(sent!.headers.authorization, `Bearer ${emulator.settings.accessToken}`);
});

test('a contact who never wrote is sent a template, at the phone number', async () => {
  const phone = newCustomer();
  const contact = await makeContact(ws, { phone: `+${phone}` });
  const { id } = await makeConversation(ws, { contact_id: contact.id, channel_id: channelId });
  const message = await sendMessage(ws, id, {
    template_id: template('order_shipped', 'de'),
    template_variables: { 2: 'A-7', 1: 'Ada' },
  });
  assert.equal(message.content, 'Hallo Ada, deine Bestellung A-7 ist unterwegs.');
  assert.equal((await ended(id, message.id)).status, 'sent');
  assert.deepEqual(to(phone)[0]!.body['template'], {
    name: 'order_shipped',
    language: { code: 'de' },
    components: [
      {
        type: 'body',
        parameters: [
          { type: 'text', text: 'Ada' },
          { type: 'text', text: 'A-7' },
        ],
      },
    ],
  });
});

test('a customer whose messages were handed over by API is answered at the phone number', async () => {
  const phone = newCustomer();
  const { conversation } = await receive(ws, channelId, {
    from: { external_id: 'customer-7', phone: `+${phone}` },
  });
  const message = await sendMessage(ws, conversation.id, {
    template_id: template('hello_world', 'en_US'),
  });
  assert.equal((await ended(conversation.id, message.id)).status, 'sent');
  assert.equal(to(phone).length, 1);
});

test('named variables go by their names, and a template without any goes without', async () => {
  const { from, id } = await customer();
  const variables = { date: '12 May', first_name: 'Ada' };
  const named = await sendMessage(ws, id, {
    template_id: template('appointment_reminder'),
    template_variables: variables,
  });
  const plain = await sendMessage(ws, id, { template_id: template('hello_world', 'en_US') });
  assert.equal((await ended(id, named.id)).status, 'sent');
  assert.equal((await ended(id, plain.id)).status, 'sent');
  const [first, second] = to(from).map(({ body }) => body['template'] as Data);
  assert.deepEqual(first.components[0].parameters, [
    { type: 'text', parameter_name: 'first_name', text: 'Ada' },
    { type: 'text', parameter_name: 'date', text: '12 May' },
  ]);
  assert.deepEqual(second, { name: 'hello_world', language: { code: 'en_US' } });
});

test('ten numbered variables stand in the order of their numbers, whatever the order of the text', async () => {
  const body = [10, 2, 1, 3, 4, 5, 6, 7, 8, 9].map((n) => `{{${n}}}`).join(' ');
  emulator.templates.add({ name: 'ten', language: 'en', body });
  await ws.request('POST', `/channels/${channelId}/sync_templates`);
  const [made] = await read(ws, '/templates');
  const { from, id } = await customer();
  const numbers = Array.from({ length: 10 }, (_, n) => n + 1);
  const message = await sendMessage(ws, id, {
    template_id: made.id,
    template_variables: Object.fromEntries(numbers.map((n) => [n, `v${n}`])),
  });
  assert.equal((await ended(id, message.id)).status, 'sent');
  const { components } = to(from)[0]!.body['template'] as Data;
  assert.deepEqual(
    components[0].parameters.map(({ text }: Data) => text),
    numbers.map((n) => `v${n}`),
  );
});

const failing = [190, 131026, 131047, 132001];

test('an error that time does not heal fails the message at once, with Meta’s code and words', async () => {
  const { from, id } = await customer();
  for (const code of failing) emulator.failNext({ code, details: `Words of ${code}`, httpStatus: 500 });
  const sent = [];
  for (const code of failing) sent.push(await sendMessage(ws, id, { content: `Try ${code}` }));
  const after = await Promise.all(sent.map((message) => ended(id, message.id)));
  for (const [place, code] of failing.entries()) {
    assert.equal(after[place].status, 'failed');
    const words = code === 190 ? 'Access token has expired' : `Words of ${code}`;
    assert.ok(after[place].error.endsWith(` (Meta ${code}: ${words})`), after[place].error);
  }
  assert.deepEqual(to(from), []);
});

test('an error that passes is tried again until the message is through, in its order', async () => {
  const { from, id } = await customer();
  const passing = [130429, 131000, 131056];
  for (const code of passing) {
    emulator.failNext({ code, httpStatus: 400 });
    const message = await sendMessage(ws, id, { content: `After ${code}` });
    await sendMessage(ws, id, { content: `Behind ${code}` });
    assert.equal((await ended(id, message.id)).status, 'sent');
  }
  await eventually(() =>
    assert.deepEqual(
      to(from).map(({ body }) => (body['text'] as Data).body),
      passing.flatMap((code) => [`After ${code}`, `Behind ${code}`]),
    ),
  );
});

test('when it never passes the message fails with the last reason', async () => {
  const { id } = await customer();
  emulator.failNext({ code: 130429, times: 4 });
  const message = await sendMessage(ws, id, { content: 'Hello' });
  const { status, error } = await ended(id, message.id);
  assert.equal(status, 'failed');
  assert.match(error, /^The number is over its rate limit\. \(Meta 130429: Cloud API message throughput/);
});

test('the platform is given the time it asks for', async () => {
  const { from, id } = await customer();
  emulator.failNext({ code: 130429, headers: { 'retry-after': '1' } });
  const begun = Date.now();
  const message = await sendMessage(ws, id, { content: 'Hello' });
  assert.equal((await ended(id, message.id)).status, 'sent');
  assert.ok(to(from)[0]!.at.getTime() - begun >= 950);
});

test('a closed window on the platform’s side fails the message with the way out', async () => {
  const { from, id } = await customer();
  emulator.closeWindow(from);
  emulator.behaviour.windowErrors = 'response';
  const message = await sendMessage(ws, id, { content: 'Hello' });
  const { status, error } = await ended(id, message.id);
  emulator.behaviour.windowErrors = 'status';
  assert.equal(status, 'failed');
  assert.match(error, /send a template instead/);
});

for (const [what, behave, status, error] of [
  ['a page of a gateway that is down', (r) => r.writeHead(502).end('<html>'), 'failed', /HTTP 502/],
  ['a redirect', (r) => r.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), 'failed', /HTTP 302/],
  ['an error that is none', (r) => r.writeHead(400).end('{"error":"text"}'), 'failed', /HTTP 400/],
  ['an answer that is not JSON', (r) => r.end('ok'), 'sent', null],
  ['an answer of another shape', (r) => r.end('{"messages":[null]}'), 'sent', null],
  ['messages that are no list', (r) => r.end('{"messages":{}}'), 'sent', null],
] as [string, (response: ServerResponse) => unknown, string, RegExp | null][]) {
  test(`${what} is an answer too: ${status}`, async () => {
    const id = await customerThere();
    answer = behave;
    const message = await sendMessage(ws, id, { content: 'Hello' });
    const after = await ended(id, message.id);
    assert.equal(after.status, status);
    if (error) assert.match(after.error, error);
  });
}

test('a channel that is not set up, and a contact without a number, say so', async () => {
  const bare = await create(ws, '/channels', { type: 'whatsapp', name: 'Bare' });
  const nobody = await makeContact(ws, { email: 'nobody@example.com' });
  const plain = await create(ws, '/templates', { name: 'plain', body: 'Hello' });
  for (const [channel_id, reason] of [
    [bare.id, /not set up: it needs phone_number_id and a valid access_token/],
    [channelId, /no phone number/],
  ] as const) {
    const { id } = await makeConversation(ws, { contact_id: nobody.id, channel_id });
    const message = await sendMessage(ws, id, { template_id: plain.id });
    const { status, error } = await ended(id, message.id);
    assert.equal(status, 'failed');
    assert.match(error, reason);
  }
});

test('a token that cannot stand in a header fails at once, and holds nothing up', async () => {
  const { id } = await customer();
  const before = emulator.settings.accessToken;
  for (const access_token of ['EAAG…', 'EAA\nB', 'two words']) {
    await ws.request('PATCH', `/channels/${channelId}`, { settings: { access_token } });
    const message = await sendMessage(ws, id, { content: 'Hello' });
    assert.match((await ended(id, message.id)).error, /a valid access_token/);
    const sync = await ws.request('POST', `/channels/${channelId}/sync_templates`);
    assert.equal(sync.status, 422);
  }
  await ws.request('PATCH', `/channels/${channelId}`, { settings: { access_token: before } });
});

test('4,096 characters are the most, counted as a person counts them', async () => {
  const { from, id } = await customer();
  const longest = '\u{1F98A}'.repeat(4_096);
  const refused = await ws.request('POST', `/conversations/${id}/messages`, { content: `${longest}!` });
  assert.equal(refused.status, 422);
  const message = await sendMessage(ws, id, { content: longest });
  assert.equal((await ended(id, message.id)).status, 'sent');
  assert.equal((to(from)[0]!.body['text'] as Data).body, longest);
});
