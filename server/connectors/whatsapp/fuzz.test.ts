import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { messagesOf, read, sendMessage } from '../../../test/factory.ts';
import { eventually } from '../../../test/receiver.ts';
import { conversationWith, makeWhatsapp, newCustomer, startSendingService } from '../../../test/whatsapp.ts';

const service = await startSendingService();
const ws = await service.workspace({ plan: 'business' });
const { emulator } = await makeWhatsapp(service, ws, { statuses: 'off' });

// What must stay as it is, whatever comes: a conversation with a sent message, and with a note.
const from = newCustomer();
const incoming = await emulator.customerSends({ from, text: 'Hi' });
const { id: conversationId } = await conversationWith(ws, `+${from}`);
const sent = await sendMessage(ws, conversationId, { content: 'Hello' });
const note = await sendMessage(ws, conversationId, { content: 'Note', private: true });
await eventually(async () => assert.equal((await messagesOf(ws, conversationId))[1].status, 'sent'));
const before = await messagesOf(ws, conversationId);

const anything = fc.jsonValue({ depthSize: 'small', noUnicodeString: false });
const nasty = fc.constantFrom<unknown>(
  '\u0000',
  '\uD800',
  '__proto__',
  'constructor',
  '',
  -1,
  1e300,
  '1e400',
  '99999999999999999999',
  { valueOf: 1, toString: 1 },
  [[[[]]]],
  null,
);
const odd = fc.oneof(anything, nasty);
/** Mostly what belongs there, else anything, else nothing. */
const orOdd = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof(
    { weight: 6, arbitrary: usual },
    { weight: 2, arbitrary: odd },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );

const kinds = [
  'text',
  'image',
  'audio',
  'video',
  'document',
  'sticker',
  'location',
  'contacts',
  'button',
  'interactive',
  'reaction',
  'order',
  'system',
  '__proto__',
];
const part = fc.record(
  Object.fromEntries(
    [
      'body',
      'id',
      'mime_type',
      'filename',
      'caption',
      'latitude',
      'longitude',
      'name',
      'address',
      'text',
      'type',
      'emoji',
      'button_reply',
      'list_reply',
    ].map((name) => [name, orOdd(fc.string({ unit: 'binary', maxLength: 40 }))]),
  ),
  { requiredKeys: [] },
);
const message = fc
  .record({
    id: orOdd(fc.uuid().map((id) => `wamid.${id}`)),
    from: orOdd(fc.stringMatching(/^[0-9]{4,21}$/)),
    timestamp: orOdd(fc.integer({ min: 0, max: 4_102_444_800 }).map(String)),
    type: orOdd(fc.constantFrom(...kinds)),
    part: orOdd(part),
  })
  .map(({ part, ...rest }) => ({ ...rest, ...(typeof rest.type === 'string' && { [rest.type]: part }) }));
const status = fc.record({
  id: orOdd(fc.constantFrom(incoming, 'wamid.unknown')),
  status: orOdd(fc.constantFrom('sent', 'delivered', 'read', 'failed', 'played', 'deleted')),
  biz_opaque_callback_data: orOdd(fc.constantFrom(note.id, before[0].id, conversationId, 'msg_nonsense')),
  errors: orOdd(
    fc.array(fc.record({ code: odd, title: odd, message: odd, error_data: odd }), { maxLength: 2 }),
  ),
});
const contact = fc.record({ wa_id: odd, profile: orOdd(fc.record({ name: odd })) });
const shaped = fc
  .record({
    contacts: orOdd(fc.array(contact, { maxLength: 2 })),
    messages: orOdd(fc.array(orOdd(message), { maxLength: 3 })),
    statuses: orOdd(fc.array(orOdd(status), { maxLength: 3 })),
  })
  .map((value) => emulator.payload(value));

// A run must not differ from the next: what was found once is found again.
const runs = { seed: 20_261_115, numRuns: 250, endOnFailure: true };

test('nothing that is signed gives a 5xx, and what is stored can be read', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 1, arbitrary: odd }, { weight: 5, arbitrary: shaped }),
      async (payload) => {
        const answer = await emulator.post(JSON.stringify(payload) ?? '');
        assert.equal(answer.status, 200, answer.body);
      },
    ),
    runs,
  );
  for (let page = 1; ; page++) {
    const conversations = await read(ws, `/conversations?per_page=100&page=${page}`);
    for (const { id, contact } of conversations) {
      assert.match(contact.name, /\S/);
      assert.match(contact.phone ?? '+4915112345678', /^\+[1-9]\d{6,14}$/);
      for (const { type, content, attachments } of await messagesOf(ws, id)) {
        if (id === conversationId) continue;
        assert.equal(type, 'incoming');
        assert.ok(content.trim() !== '' || attachments.length === 1);
      }
    }
    if (conversations.length < 100) return;
  }
});

test('and no message that was there before has changed', async () => {
  assert.deepEqual((await messagesOf(ws, conversationId)).slice(0, before.length), before);
  assert.equal(before[1].id, sent.id);
});
