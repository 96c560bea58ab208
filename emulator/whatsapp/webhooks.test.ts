import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { EmulatorOptions } from './emulator.ts';
import { customer, graph, type Hook, type Json, sendText, start, startHook } from './testing.ts';

async function connected(t: TestContext, options: EmulatorOptions = {}) {
  const hook = await startHook(t);
  return { hook, emulator: await start(t, { webhookUrl: hook.url, ...options }) };
}

function statusesIn(hook: Hook): Json[] {
  return hook.values().flatMap(({ statuses = [] }) => statuses);
}

test('the handshake succeeds only if the challenge comes back exactly', async (t) => {
  const { hook, emulator } = await connected(t);
  const query = (path: string) => new URL(path, hook.url).searchParams;
  hook.answer = (response, path) => void response.end(query(path).get('hub.challenge'));
  assert.equal(await emulator.handshake(), true);
  const asked = query(hook.received[0]?.path ?? '');
  assert.equal(asked.get('hub.mode'), 'subscribe');
  assert.equal(asked.get('hub.verify_token'), emulator.settings.verifyToken);
  hook.answer = (response, path) => void response.end(`"${query(path).get('hub.challenge')}"`);
  assert.equal(await emulator.handshake(), false);
  hook.answer = (response, path) => void response.writeHead(403).end(query(path).get('hub.challenge'));
  assert.equal(await emulator.handshake(), false);
});

test("a customer's text arrives in Meta's envelope", async (t) => {
  const { hook, emulator } = await connected(t);
  const at = new Date(1_700_000_000_999);
  const id = await emulator.customerSends({ from: customer, name: 'Zoë', text: 'a/b ü 😀', at });
  assert.deepEqual(JSON.parse(hook.received[0]?.body ?? ''), {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: emulator.settings.businessAccountId,
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: {
                display_phone_number: '15550783881',
                phone_number_id: emulator.settings.phoneNumberId,
              },
              contacts: [{ profile: { name: 'Zoë' }, wa_id: customer }],
              messages: [
                { from: customer, id, timestamp: '1700000000', type: 'text', text: { body: 'a/b ü 😀' } },
              ],
            },
          },
        ],
      },
    ],
  });
});

test("the signature is over the bytes sent, escaped as Meta's are", async (t) => {
  const { hook, emulator } = await connected(t);
  await emulator.customerSends({ from: customer, text: 'a/b ü 😀' });
  const [received] = hook.received;
  const body = received?.body ?? '';
  assert.ok(body.includes('a\\/b \\u00fc \\ud83d\\ude00'));
  const digest = createHmac('sha256', emulator.settings.appSecret).update(body).digest('hex');
  assert.equal(received?.headers['x-hub-signature-256'], `sha256=${digest}`);
});

test('a raw post can carry a wrong signature, another secret, none, or any bytes', async (t) => {
  const { hook, emulator } = await connected(t);
  hook.answer = (response) => void response.writeHead(401).end('no');
  assert.equal((await emulator.post({}, { signature: 'sha256=00' })).status, 401);
  await emulator.post('not json', { secret: 'other' });
  await emulator.post({}, { signature: '' });
  await emulator.settled();
  const digest = createHmac('sha256', 'other').update('not json').digest('hex');
  assert.deepEqual(
    hook.received.map(({ body, headers }) => [body, headers['x-hub-signature-256']]),
    [
      ['{}', 'sha256=00'],
      ['not json', `sha256=${digest}`],
      ['{}', undefined],
    ],
  );
});

test('a webhook that is not answered with 2xx is sent again, with the same bytes', async (t) => {
  const { hook, emulator } = await connected(t);
  hook.answer = (response) => void response.writeHead(hook.received.length < 3 ? 500 : 200).end();
  await emulator.customerSends({ from: customer, text: 'Hi' });
  await emulator.settled();
  assert.equal(new Set(hook.received.map(({ body }) => body)).size, 1);
  assert.deepEqual(
    emulator.webhookLog[0]?.attempts.map(({ status }) => status),
    [500, 500, 200],
  );
  assert.equal(emulator.webhookLog[0]?.state, 'delivered');
});

test('a webhook nobody takes is given up after the last retry', async (t) => {
  const emulator = await start(t, { webhookUrl: 'http://127.0.0.1:1/' });
  await emulator.customerSends({ from: customer, text: 'Hi' });
  await emulator.settled();
  assert.equal(emulator.webhookLog[0]?.state, 'given_up');
  assert.equal(emulator.webhookLog[0]?.attempts.length, 3);
  assert.ok(emulator.webhookLog[0]?.attempts[0]?.error);
});

test("each kind of a customer's message has Meta's shape", async (t) => {
  const { hook, emulator } = await connected(t);
  const file = {
    bytes: Buffer.from('bytes'),
    mime: 'application/pdf',
    caption: 'Bill',
    filename: 'bill.pdf',
  };
  const location = { latitude: 52.5, longitude: 13.4, name: 'Berlin' };
  const interactive = { type: 'button_reply', button_reply: { id: 'yes', title: 'Yes' } };
  const base = { from: customer, name: 'Ada' };
  const ids = await emulator.customersSend([
    { ...base, document: file },
    { ...base, audio: { bytes: Buffer.from('a'), mime: 'audio/ogg; codecs=opus', voice: true } },
    { ...base, location },
    { ...base, interactive, replyTo: 'wamid.asked' },
    { ...base, reaction: { message_id: 'wamid.x', emoji: '👍' } },
    { ...base, raw: { type: 'unsupported', errors: [{ code: 131051 }] } },
  ]);
  assert.equal(hook.received.length, 1);
  const [value] = hook.values();
  assert.equal(value.contacts.length, 1);
  assert.deepEqual(
    value.messages.map(({ id }: Json) => id),
    ids,
  );
  const [document, audio, place, answer, reaction, unsupported] = value.messages;
  assert.deepEqual(document.document, {
    caption: 'Bill',
    filename: 'bill.pdf',
    mime_type: 'application/pdf',
    sha256: 'J3CJ2RwL308uaGK6fkoHYFEZQx9dE/cm3TUrBvGyBqk=',
    id: document.document.id,
  });
  assert.equal((await graph(emulator, 'GET', document.document.id)).json.file_size, 5);
  assert.equal(audio.audio.voice, true);
  assert.deepEqual(place.location, location);
  assert.equal(answer.context.id, 'wamid.asked');
  assert.deepEqual(answer.interactive, interactive);
  assert.equal(reaction.reaction.emoji, '👍');
  assert.equal(unsupported.type, 'unsupported');
});

test('sent and delivered follow an accepted message, read and failed on demand, all with the callback data', async (t) => {
  const { hook, emulator } = await connected(t);
  await emulator.customerSends({ from: customer, text: 'Hi' });
  const { json } = await sendText(emulator, 'Hello', { biz_opaque_callback_data: 'msg_1' });
  await emulator.settled();
  const { id } = json.messages[0];
  await emulator.markRead(id);
  await emulator.fail(id, 131026);
  const statuses = statusesIn(hook);
  assert.deepEqual(
    statuses.map(({ status }) => status),
    ['sent', 'delivered', 'read', 'failed'],
  );
  for (const status of statuses) {
    assert.equal(status.id, id);
    assert.equal(status.recipient_id, customer);
    assert.equal(status.biz_opaque_callback_data, 'msg_1');
    assert.match(status.timestamp, /^\d{10}$/);
  }
  assert.equal(statuses[3].errors[0].code, 131026);
  assert.equal(statuses[3].errors[0].title, 'Message undeliverable');
});

test('statuses can come shuffled, doubled or not at all', async (t) => {
  const { hook, emulator } = await connected(t);
  await emulator.customerSends({ from: customer, text: 'Hi' });
  const expected = {
    shuffled: ['delivered', 'sent'],
    doubled: ['sent', 'sent', 'delivered', 'delivered'],
    off: [],
  };
  for (const mode of ['shuffled', 'doubled', 'off'] as const) {
    hook.received.length = 0;
    emulator.behaviour.statuses = mode;
    await sendText(emulator);
    await emulator.settled();
    assert.deepEqual(
      statusesIn(hook).map(({ status }) => status),
      expected[mode],
    );
  }
});

test('a free text outside the 24 hours is accepted and fails in a status, a template is delivered', async (t) => {
  const { hook, emulator } = await connected(t);
  await emulator.customerSends({ from: customer, text: 'Hi', at: new Date(Date.now() - 25 * 3600 * 1000) });
  assert.equal((await sendText(emulator)).status, 200);
  await emulator.settled();
  const [failed] = statusesIn(hook);
  assert.equal(failed.status, 'failed');
  assert.equal(failed.errors[0].code, 131047);
  assert.match(failed.errors[0].error_data.details, /more than 24 hours/);

  const template = { name: 'hello_world', language: { code: 'en_US' } };
  await sendText(emulator, '', { type: 'template', template });
  await emulator.settled();
  assert.deepEqual(
    statusesIn(hook).map(({ status }) => status),
    ['failed', 'sent', 'delivered'],
  );
});

test('a free text outside the 24 hours can be refused in the answer instead', async (t) => {
  const { emulator } = await connected(t, { windowErrors: 'response' });
  await emulator.customerSends({ from: customer, text: 'Hi' });
  assert.equal((await sendText(emulator)).status, 200);
  emulator.closeWindow(customer);
  const { status, json } = await sendText(emulator);
  assert.deepEqual([status, json.error.code], [400, 131047]);
});
