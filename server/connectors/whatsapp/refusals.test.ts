import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import pg from 'pg';
import { eventually } from '../../../test/factory.ts';
import { atEnd, clientFor, createDatabase } from '../../../test/harness.ts';
import { external, longMs, start } from '../../../test/operation/child.ts';
import { counted, emulatorEnv, makeWhatsapp } from '../../../test/whatsapp.ts';

/** A process of its own, for its log. */
const databaseUrl = await createDatabase();
const service = await start({
  ...external(databaseUrl),
  ...emulatorEnv,
  INBOX_API_KEY: 'key-of-the-operator',
  INBOX_LOG_LEVEL: 'warn',
});
const sql = new pg.Client({ connectionString: databaseUrl });
await sql.connect();
atEnd(() => sql.end());
const ws = { request: clientFor(service.baseUrl, 'key-of-the-operator') };
const { id, emulator } = await makeWhatsapp(service, ws);

const message = {
  id: 'wamid.refused',
  from: '4915112345678',
  timestamp: '1763199000',
  type: 'text',
  text: { body: 'canary \u{1F98A}/' },
};
const value = {
  messaging_product: 'whatsapp',
  metadata: { display_phone_number: '15550783881', phone_number_id: emulator.settings.phoneNumberId },
  contacts: [{ wa_id: message.from, profile: { name: 'canary' } }],
  messages: [message],
};
const wrap = (change: object, object = 'whatsapp_business_account') => ({
  object,
  entry: [{ id: emulator.settings.businessAccountId, changes: [change] }],
});
const good = emulator.payload({ messages: [message] });
const signed = (text: string, secret = emulator.settings.appSecret) =>
  `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;

async function storedRows(): Promise<unknown> {
  const { rows } = await sql.query(`select
    (select count(*) from contacts) as contacts, (select count(*) from conversations) as conversations,
    (select count(*) from messages) as messages, (select count(*) from message_external_ids) as names,
    (select count(*) from contact_identities) as identities, (select count(*) from media) as media`);
  return rows[0];
}

/** Refused or ignored under this name: counted once, logged, answered without a 5xx, and nothing is stored. */
async function assertTurnedAway(status: number, reason: string, call: () => Promise<number | null>) {
  const read = () => counted(service.origin, 'inbox_channel_ignored_total', 'whatsapp', reason);
  const lines = () => service.logs().filter(({ why, what }) => (why ?? what) === reason).length;
  const before = { rows: await storedRows(), counted: await read(), lines: lines() };
  assert.equal(await call(), status);
  assert.equal(await read(), before.counted + 1);
  await eventually(
    longMs,
    async () => lines(),
    (now) => now > before.lines,
  );
  assert.deepEqual(await storedRows(), before.rows);
}

const post = async (payload: unknown, options = {}) => (await emulator.post(payload, options)).status;

for (const [what, signature] of Object.entries({
  'with another secret': signed(JSON.stringify(good), 'another'),
  'over other bytes that mean the same': signed(`${JSON.stringify(good)} `),
  'in capitals': signed(JSON.stringify(good)).toUpperCase(),
  'of another kind': 'sha1=0000',
  'that is missing': '',
  'without its algorithm': signed(JSON.stringify(good)).slice('sha256='.length),
  'cut short': signed(JSON.stringify(good)).slice(0, -1),
})) {
  test(`a signature ${what} is refused`, () =>
    assertTurnedAway(403, 'signature', () => post(JSON.stringify(good), { signature })));
}

test('a wrong verify token is refused', () =>
  assertTurnedAway(403, 'handshake', async () => {
    const query = 'hub.mode=subscribe&hub.verify_token=wrong&hub.challenge=1';
    return (await service.request('GET', `/channels/${id}/webhook?${query}`)).status;
  }));

for (const [what, reason, payload] of [
  ['another object', 'object', wrap({ field: 'messages', value }, 'page')],
  ['the interface before the cloud', 'object', { contacts: value.contacts, messages: [message] }],
  ['no JSON', 'object', '{"object":"whatsapp_business_account"'],
  ['nothing', 'object', ''],
  ['a list', 'object', [good]],
  ['no entry', 'entry', { object: 'whatsapp_business_account' }],
  ['an entry without changes', 'entry', { object: 'whatsapp_business_account', entry: [{ id: '1' }] }],
  ['another field', 'field', wrap({ field: 'message_template_status_update', value })],
  ['another product', 'field', wrap({ field: 'messages', value: { ...value, messaging_product: 'x' } })],
  [
    'another phone number id',
    'phone_number_id',
    wrap({ field: 'messages', value: { ...value, metadata: { phone_number_id: '1' } } }),
  ],
  ['no phone number id', 'phone_number_id', wrap({ field: 'messages', value: { ...value, metadata: null } })],
  ['neither messages nor statuses', 'value', emulator.payload({ errors: [{ code: 130429 }] })],
  ['a message without an id', 'message', emulator.payload({ messages: [{ ...message, id: undefined }] })],
  [
    'a message with an endless id',
    'message',
    emulator.payload({ messages: [{ ...message, id: 'x'.repeat(256) }] }),
  ],
  ['a message from nobody', 'message', emulator.payload({ messages: [{ ...message, from: 'Ada' }] })],
  ['a message without a type', 'message', emulator.payload({ messages: [{ ...message, type: undefined }] })],
  [
    'a status of another kind',
    'status',
    emulator.payload({ statuses: [{ id: 'wamid.x', status: 'pending' }] }),
  ],
] as [string, string, unknown][]) {
  test(`${what} is ignored`, () => assertTurnedAway(200, reason, () => post(payload)));
}

test('one log line a reason, however many parts it was', async () => {
  const lines = () => service.logs().filter(({ what }) => what === 'message');
  const before = lines().length;
  await post(emulator.payload({ messages: Array.from({ length: 1_000 }, () => ({})) }));
  await eventually(
    longMs,
    async () => lines().length,
    (now) => now > before,
  );
  assert.equal(lines().length, before + 1);
  assert.equal(lines().at(-1)!['times'], 1_000);
});

test('more than 4 MB is refused', async () => {
  const before = await storedRows();
  const text = JSON.stringify({ ...good, more: 'x'.repeat(4 * 1024 * 1024) });
  // Whoever is still writing may not get to read the answer.
  assert.ok([400, null].includes(await post(text)));
  assert.deepEqual(await storedRows(), before);
});

test('the log holds nothing a customer wrote, and the same message is taken once it is right', async () => {
  assert.doesNotMatch(service.stderr(), /canary/);
  const text = JSON.stringify(good);
  const { status, body } = await service.request('POST', `/channels/${id}/webhook`, undefined, {
    raw: text,
    headers: { 'content-type': 'text/plain', 'x-hub-signature-256': signed(text) },
  });
  assert.equal(status, 200);
  assert.deepEqual(body.data, { messages: 1, statuses: 0, ignored: 0 });
});
