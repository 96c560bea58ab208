import assert from 'node:assert/strict';
import test from 'node:test';
import {
  type Data,
  inParallel,
  makeContact,
  makeConversation,
  messagesOf,
  read,
  sendMessage,
} from '../../../test/factory.ts';
import type { Workspace } from '../../../test/harness.ts';
import { eventually } from '../../../test/receiver.ts';
import { makeWhatsapp, startSendingService } from '../../../test/whatsapp.ts';

/** Long waits between attempts: a message whose answer was lost is settled by its reports and by nothing else. */
const service = await startSendingService({ env: { INBOX_CHANNEL_RETRY_SECONDS: '60' } });

/** Fixed by its seed, so that a run that fails fails again (mulberry32). */
function dice(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    shuffled<T>(list: readonly T[]): T[] {
      const left = [...list];
      return Array.from(list, () => left.splice(below(left.length), 1)[0]!);
    },
  };
}

/** Whoever has a phone here was a contact before the day began; the business writes to them first. */
const customers: { waId: string; name: string; phone?: string }[] = [
  { waId: '4915112345671', name: 'Ada' },
  { waId: '4915112345672', name: 'Zoë \u{1F98A}', phone: '+4915112345672' },
  { waId: '5215512345678', name: 'Frida', phone: '+525512345678' },
  { waId: '553187654321', name: 'Machado', phone: '+5531987654321' },
  { waId: '012345678901234567', name: 'Short code' },
  { waId: '4915112345676', name: 'Grace' },
];

/** What becomes of what the business sends; `lost`: the answer to the send never came. */
const fates: { reports: string[]; lost?: true; end: string }[] = [
  { reports: ['sent', 'delivered', 'read'], end: 'read' },
  { reports: ['sent', 'delivered'], end: 'delivered' },
  { reports: ['sent', 'failed'], end: 'failed' },
  { reports: ['sent', 'failed'], lost: true, end: 'failed' },
  { reports: ['sent', 'delivered', 'read'], lost: true, end: 'read' },
  { reports: ['sent'], lost: true, end: 'sent' },
];

const dayBegan = Math.floor(Date.now() / 1000) - 23 * 3_600;

/** The value of a change as the platform sends it; `sent` are the wamids of what went out, a day's are the same. */
function recordedDay(sent: { wamid: string; id: string }[]): Record<string, unknown>[] {
  const { below } = dice(7);
  const written = Array.from({ length: 60 }, (_, n) => {
    const { waId, name } = customers[below(customers.length)]!;
    const media = {
      id: `media-${n}`,
      mime_type: 'image/jpeg',
      sha256: 'x',
      ...(below(2) && { caption: `Photo ${n}` }),
    };
    const content = [
      { type: 'text', text: { body: `Message ${n} \u{1F44B}` } },
      { type: 'image', image: media },
      { type: 'location', location: { latitude: n, longitude: -n } },
    ][below(3)]!;
    const timestamp = String(dayBegan + below(22 * 3_600));
    return {
      contacts: [{ profile: { name }, wa_id: waId }],
      messages: [{ from: waId, id: `wamid.in-${n}`, timestamp, ...content }],
    };
  });
  const reported = sent.flatMap(({ wamid, id }, place) =>
    fates[place]!.reports.map((status) => ({
      statuses: [
        {
          id: wamid,
          status,
          timestamp: String(dayBegan + below(22 * 3_600)),
          recipient_id: '49',
          biz_opaque_callback_data: id,
          ...(status === 'failed' && { errors: [{ code: 131026, title: 'Message undeliverable' }] }),
        },
      ],
    })),
  );
  const strangers = [{ statuses: [{ id: 'wamid.of-somebody-else', status: 'read', timestamp: '1' }] }];
  return [...written, ...reported, ...strangers];
}

/** A fresh workspace into which the business has already sent its messages. */
async function begin() {
  const ws = await service.workspace();
  const { id: channel_id, emulator } = await makeWhatsapp(service, ws, { statuses: 'off' });
  await ws.request('POST', `/channels/${channel_id}/sync_templates`);
  const template_id = (await read(ws, '/templates')).find(({ name }: Data) => name === 'hello_world').id;
  const sent: { wamid: string; id: string }[] = [];
  const known = customers.filter(({ phone }) => phone !== undefined);
  const conversations: Data[] = [];
  for (const { phone } of known) {
    const { id } = await makeContact(ws, { name: `Known as ${phone}`, phone });
    conversations.push(await makeConversation(ws, { contact_id: id, channel_id }));
  }
  for (const [place, { lost }] of fates.entries()) {
    if (lost) emulator.dropAnswerNext();
    const { id } = conversations[place % conversations.length];
    const message = await sendMessage(ws, id, { template_id });
    const { wamid } = (await emulator.waitForSent(place + 1)).at(-1)!;
    const status = async () => (await messagesOf(ws, id)).at(-1).status;
    if (!lost) await eventually(async () => assert.equal(await status(), 'sent'));
    sent.push({ wamid, id: message.id });
  }
  return { ws, emulator, day: recordedDay(sent) };
}

/** Everything the day left behind, without what differs from workspace to workspace, in an order of its own. */
async function whatIsThere(ws: Workspace): Promise<Data> {
  const contacts: Data[] = await read(ws, '/contacts?per_page=100');
  const all = await Promise.all(
    contacts.map(async ({ id, name, phone }) => {
      const listed: Data[] = await read(ws, `/conversations?contact_id=${id}`);
      const conversations = await Promise.all(
        listed.map(async (one) => {
          const { status, reply_window } = await read(ws, `/conversations/${one.id}`);
          const messages = await messagesOf(ws, one.id);
          return { status, reply_window, messages: messages.map(bare).toSorted() };
        }),
      );
      return { name, phone, conversations };
    }),
  );
  return all.toSorted((a, b) => a.name.localeCompare(b.name));
}

const bare = ({ type, content, attachments, status, error }: Data): string =>
  JSON.stringify([
    type,
    content,
    attachments.map(({ content_type, file_name }: Data) => [content_type, file_name]),
    status,
    error,
  ]);

const entryOf = (values: unknown[]) => ({
  id: '102290129340398',
  changes: values.map((value) => ({ field: 'messages', value })),
});

async function post(emulator: Awaited<ReturnType<typeof begin>>['emulator'], entry: unknown[]) {
  const { status, body } = await emulator.post({ object: 'whatsapp_business_account', entry });
  assert.equal(status, 200, body);
}

const calm = await begin();
const envelope = ({ emulator }: typeof calm, value: object) => ({
  messaging_product: 'whatsapp',
  metadata: {
    display_phone_number: emulator.settings.displayPhoneNumber,
    phone_number_id: emulator.settings.phoneNumberId,
  },
  ...value,
});
for (const value of calm.day) await post(calm.emulator, [entryOf([envelope(calm, value)])]);
const expected = await whatIsThere(calm.ws);

test('the day in its order: one conversation for each customer, every message once, every status at its end', () => {
  assert.equal(expected.length, customers.length);
  for (const { conversations } of expected) assert.equal(conversations.length, 1);
  const messages: string[] = expected.flatMap(({ conversations }: Data) => conversations[0].messages);
  const statuses: string[] = messages.map((text) => JSON.parse(text)[3]).filter((one) => one !== null);
  assert.equal(messages.length, 60 + fates.length);
  assert.deepEqual(statuses.toSorted(), fates.map(({ end }) => end).toSorted());
});

for (const seed of [1, 2, 3, 4, 5]) {
  test(`shuffled, doubled, batched and at once (${seed}), the day ends the same`, async () => {
    const run = await begin();
    const { below, shuffled } = dice(seed);
    const values = run.day.map((value) => envelope(run, value));
    const left = shuffled([
      ...values,
      ...values.filter(() => below(3) === 0),
      ...values.filter(() => below(9) === 0),
    ]);
    const webhooks: unknown[][] = [];
    while (left.length > 0) {
      const entries = Array.from({ length: 1 + below(3) }, () => entryOf(left.splice(0, 1 + below(3))));
      webhooks.push(entries.filter(({ changes }) => changes.length > 0));
    }
    await inParallel(webhooks, 8, (entries) => post(run.emulator, entries));
    assert.deepEqual(await whatIsThere(run.ws), expected);
  });
}
