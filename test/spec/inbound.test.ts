import assert from 'node:assert/strict';
import test from 'node:test';
import { toId } from '../../server/ids.ts';
import {
  activitiesOf,
  assertError,
  type Data,
  eventsDuring,
  makeChannel,
  makeContact,
  makeConversation,
  messagesOf,
  patchConversation,
  read,
  receive,
} from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const channel = await makeChannel(ws);
let customers = 0;

const newPhone = () => `+4915${String(100_000_000 + customers++)}`;
const post = (body: unknown, id = channel.id) => ws.request('POST', `/channels/${id}/inbound`, body);
const contactsWith = (q: string): Promise<Data[]> => read(ws, `/contacts?q=${encodeURIComponent(q)}`);

test('a first message creates the contact, an open conversation on the channel, and the message: 201', async () => {
  const from = { external_id: 'visitor-1', phone: newPhone(), email: 'v1@example.com', name: 'Ada' };
  const answer = await post({ from, content: 'Hi' });
  assert.equal(answer.status, 201);
  const { message, conversation, contact } = answer.body.data;
  assert.deepEqual(Object.keys(answer.body.data).toSorted(), ['contact', 'conversation', 'message']);
  assert.deepEqual(contact, await read(ws, `/contacts/${contact.id}`));
  assert.deepEqual([contact.name, contact.phone, contact.email], ['Ada', from.phone, 'v1@example.com']);
  assert.deepEqual(conversation, await read(ws, `/conversations/${conversation.id}`));
  assert.equal(conversation.status, 'open');
  assert.equal(conversation.channel.id, channel.id);
  assert.equal(conversation.contact.id, contact.id);
  assert.equal(conversation.assignee, null);
  assert.deepEqual(await messagesOf(ws, conversation.id), [message]);
  assert.equal(message.type, 'incoming');
});

for (const only of ['external_id', 'phone', 'email'] as const) {
  test(`a customer known by ${only} alone is enough, and is the same at the next message`, async () => {
    const from = { [only]: { external_id: 'only-id', phone: newPhone(), email: 'only@example.com' }[only] };
    const first = await receive(ws, channel.id, { from });
    const second = await receive(ws, channel.id, { from });
    assert.equal(second.contact.id, first.contact.id);
    assert.equal(second.conversation.id, first.conversation.id);
    assert.notEqual(first.contact.name, '');
  });
}

const refused: [why: string, body: object, status: number, field: string][] = [
  ['without from', { from: undefined }, 400, 'from'],
  ['with a from that names nobody', { from: { name: 'Ada' } }, 400, 'from'],
  ['with only null in from', { from: { phone: null, email: null } }, 400, 'from'],
  ['with a from that is a string', { from: 'Ada' }, 400, 'from'],
  [
    'with an external_id of the customer that is no string',
    { from: { external_id: 5 } },
    400,
    'from.external_id',
  ],
  ['with a phone that is not E.164', { from: { phone: '0151' } }, 422, 'from.phone'],
  ['with a malformed e-mail', { from: { email: 'ada' } }, 422, 'from.email'],
  ['without content', { content: undefined }, 400, 'content'],
  ['with content that is no string', { content: 5 }, 400, 'content'],
  ['with blank content', { content: ' ' }, 422, 'content'],
  ['with attachments that are no array', { attachments: {} }, 400, 'attachments'],
  [
    'with an attachment without url',
    { attachments: [{ content_type: 'a/b', file_name: 'x' }] },
    400,
    'attachments.0.url',
  ],
  ['with an external_id that is no string', { external_id: 5 }, 400, 'external_id'],
];

for (const [why, body, status, field] of refused) {
  test(`a message ${why} answers ${status} and leaves nothing`, async () => {
    const own = await service.workspace();
    const { id } = await makeChannel(own);
    const sent = { from: { external_id: 'x' }, content: 'Hi', ...body };
    assertError(await own.request('POST', `/channels/${id}/inbound`, sent), status, field);
    for (const path of ['/contacts', '/conversations']) assert.deepEqual(await read(own, path), []);
  });
}

for (const [kind, id] of [
  ['missing', toId('channel', '01999999-9999-7999-8999-999999999999')],
  ['malformed', 'nonsense'],
]) {
  test(`a ${kind} channel answers 404`, async () => {
    assertError(await post({ from: { external_id: 'x' }, content: 'Hi' }, id), 404);
  });
}

test('an archived channel answers 422', async () => {
  const old = await makeChannel(ws);
  await ws.request('DELETE', `/channels/${old.id}`);
  assertError(await post({ from: { external_id: 'x' }, content: 'Hi' }, old.id), 422);
});

test('the identity known on the channel comes first, whatever phone and e-mail say', async () => {
  const first = await receive(ws, channel.id, { from: { external_id: 'known', phone: newPhone() } });
  const other = await makeContact(ws, { phone: newPhone() });
  const second = await receive(ws, channel.id, { from: { external_id: 'known', phone: other.phone } });
  assert.equal(second.contact.id, first.contact.id);
});

test('the same external_id on another channel is another customer', async () => {
  const second = await makeChannel(ws);
  const here = await receive(ws, channel.id, { from: { external_id: 'same-id' } });
  const there = await receive(ws, second.id, { from: { external_id: 'same-id' } });
  assert.notEqual(there.contact.id, here.contact.id);
});

for (const by of ['phone', 'email'] as const) {
  test(`a customer not known on the channel is found by equal ${by}, the oldest contact first`, async () => {
    const value = by === 'phone' ? newPhone() : 'twice@example.com';
    const oldest = await makeContact(ws, { [by]: value });
    await makeContact(ws, { [by]: value });
    const { contact } = await receive(ws, channel.id, { from: { [by]: value } });
    assert.equal(contact.id, oldest.id);
  });
}

test('the oldest contact wins over phone and e-mail together', async () => {
  const phone = newPhone();
  const byEmail = await makeContact(ws, { email: 'older@example.com' });
  await makeContact(ws, { phone });
  const { contact } = await receive(ws, channel.id, { from: { phone, email: 'older@example.com' } });
  assert.equal(contact.id, byEmail.id);
});

test('who was found by phone is remembered on the channel, also when the contact changes', async () => {
  const phone = newPhone();
  const { id } = await makeContact(ws, { phone });
  await receive(ws, channel.id, { from: { external_id: 'remembered', phone } });
  await ws.request('PUT', `/contacts/${id}`, { phone: newPhone() });
  const { contact } = await receive(ws, channel.id, { from: { external_id: 'remembered' } });
  assert.equal(contact.id, id);
});

test('a message never changes the contact it is of', async () => {
  const before = await makeContact(ws, { name: 'Ada', phone: newPhone() });
  const { contact } = await receive(ws, channel.id, {
    from: { phone: before.phone, name: 'Other', email: 'other@example.com' },
  });
  assert.deepEqual(contact, before);
  assert.deepEqual(await read(ws, `/contacts/${before.id}`), before);
});

test('a reply to an outbound conversation lands in it', async () => {
  const contact = await makeContact(ws, { phone: newPhone() });
  const outbound = await makeConversation(ws, { contact_id: contact.id, channel_id: channel.id });
  const reply = await receive(ws, channel.id, { from: { external_id: 'replying', phone: contact.phone } });
  assert.equal(reply.conversation.id, outbound.id);
  assert.equal((await contactsWith(contact.phone)).length, 1);
});

test('a message goes to the newest conversation of that contact and channel', async () => {
  const contact = await makeContact(ws, { phone: newPhone() });
  const older = await makeConversation(ws, { contact_id: contact.id, channel_id: channel.id });
  const newest = await makeConversation(ws, { contact_id: contact.id, channel_id: channel.id });
  await patchConversation(ws, older.id, { labels: ['touched later'] });
  const { conversation } = await receive(ws, channel.id, { from: { phone: contact.phone } });
  assert.equal(conversation.id, newest.id);
});

test('a customer who writes on another channel has another conversation there', async () => {
  const phone = newPhone();
  const second = await makeChannel(ws);
  const here = await receive(ws, channel.id, { from: { phone } });
  const there = await receive(ws, second.id, { from: { phone } });
  assert.equal(there.contact.id, here.contact.id);
  assert.notEqual(there.conversation.id, here.conversation.id);
  assert.equal(there.conversation.channel.id, second.id);
});

for (const status of ['open', 'pending']) {
  test(`a message in a conversation that is ${status} leaves it ${status}`, async () => {
    const from = { external_id: `stays ${status}` };
    const { conversation } = await receive(ws, channel.id, { from });
    await patchConversation(ws, conversation.id, { status });
    const events = await eventsDuring(service, ws, () => receive(ws, channel.id, { from }));
    assert.equal((await read(ws, `/conversations/${conversation.id}`)).status, status);
    assert.deepEqual(
      events.map(({ event }) => event),
      ['message.created'],
    );
  });
}

for (const after_resolved of ['reopen', 'new']) {
  for (const status of after_resolved === 'new' ? ['snoozed'] : ['resolved', 'snoozed']) {
    test(`on a channel with after_resolved ${after_resolved} a message reopens a ${status} conversation`, async () => {
      const own = await makeChannel(ws, { after_resolved });
      const from = { external_id: 'back' };
      const { conversation } = await receive(ws, own.id, { from });
      await patchConversation(ws, conversation.id, { status });
      const events = await eventsDuring(service, ws, async () => {
        const again = await receive(ws, own.id, { from });
        assert.equal(again.conversation.id, conversation.id);
        assert.equal(again.conversation.status, 'open');
      });
      assert.deepEqual(
        events.map(({ event }) => event),
        ['conversation.updated', 'message.created'],
      );
      assert.deepEqual(events[0].data.changes, { status: { from: status, to: 'open' } });
      assert.equal(events[1].data.conversation.status, 'open');
      const activity = (await activitiesOf(ws, conversation.id)).at(-1);
      assert.deepEqual(activity.sender, { type: 'bot', id: 'bot_system', name: 'System' });
    });
  }
}

test('after_resolved is reopen by default', async () => {
  assert.equal(channel.after_resolved, 'reopen');
});

test('on a channel with after_resolved new a message after a resolved conversation begins a new one', async () => {
  const own = await makeChannel(ws, { after_resolved: 'new' });
  const from = { external_id: 'again' };
  const first = await receive(ws, own.id, { from });
  await patchConversation(ws, first.conversation.id, { status: 'resolved' });
  const second = await receive(ws, own.id, { from });
  assert.notEqual(second.conversation.id, first.conversation.id);
  assert.equal(second.contact.id, first.contact.id);
  assert.equal((await read(ws, `/conversations/${first.conversation.id}`)).status, 'resolved');
  const third = await receive(ws, own.id, { from });
  assert.equal(third.conversation.id, second.conversation.id);
});

test('an attachment needs an http or https URL and names of reasonable length: 422 otherwise', async () => {
  const channel = await makeChannel(ws);
  const send = (attachment: object) =>
    ws.request('POST', `/channels/${channel.id}/inbound`, {
      from: { external_id: 'visitor' },
      attachments: [
        { url: 'https://x.test/a.png', content_type: 'image/png', file_name: 'a.png', ...attachment },
      ],
    });
  assert.equal((await send({})).status, 201);
  for (const bad of [
    { url: 'javascript:alert(1)' },
    { url: `https://x.test/${'a'.repeat(2048)}` },
    { file_name: 'x'.repeat(256) },
  ]) {
    assert.equal((await send(bad)).status, 422);
  }
});
