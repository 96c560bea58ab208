import assert from 'node:assert/strict';
import test from 'node:test';
import { fromId } from '../../server/ids.ts';
import {
  assertError,
  type Data,
  eventsDuring,
  eventsOf,
  makeAgent,
  makeChannel,
  makeContact,
  makeConversation,
  makeTeam,
  patchConversation,
  read,
  receive,
  sendMessage,
  timestamp,
} from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();

const during = (work: () => Promise<unknown>) => eventsDuring(service, ws, work);
const names = (events: Data[]): string[] => events.map(({ event }) => event);

function assertEnvelope(event: Data, type: string) {
  assert.deepEqual(Object.keys(event).toSorted(), ['data', 'event', 'id', 'timestamp', 'workspace_id']);
  assert.equal(event.event, type);
  assert.match(event.timestamp, timestamp);
  assert.equal(event.workspace_id, ws.id);
  assert.match(event.id, /^evt_[0-9a-z]{26}$/);
}

test('POST /contacts raises contact.created with the contact', async () => {
  let contact: Data;
  const events = await during(async () => (contact = await makeContact(ws, { name: 'Ada', tags: ['a'] })));
  assert.deepEqual(names(events), ['contact.created']);
  assertEnvelope(events[0], 'contact.created');
  assert.deepEqual(events[0].data, { contact });
  assert.equal(events[0].timestamp, contact.created_at);
});

test('PUT /contacts/{id} raises contact.updated with the contact and its changes', async () => {
  const before = await makeContact(ws, { name: 'Ada', tags: ['a'], custom_attributes: { x: 1 } });
  const body = { name: 'Augusta', phone: '+4915112345678', tags: ['b'], custom_attributes: { x: null } };
  const events = await during(() => ws.request('PUT', `/contacts/${before.id}`, body));
  assert.deepEqual(names(events), ['contact.updated']);
  assertEnvelope(events[0], 'contact.updated');
  assert.deepEqual(events[0].data, {
    contact: await read(ws, `/contacts/${before.id}`),
    changes: {
      name: { from: 'Ada', to: 'Augusta' },
      phone: { from: null, to: '+4915112345678' },
      tags: { from: ['a'], to: ['b'] },
      custom_attributes: { from: { x: 1 }, to: {} },
    },
  });
});

test('PUT /contacts/{id} that changes nothing raises nothing', async () => {
  const contact = await makeContact(ws, { name: 'Ada', tags: ['a'], custom_attributes: { x: { y: [1] } } });
  const events = await during(async () => {
    await ws.request('PUT', `/contacts/${contact.id}`, contact);
    await ws.request('PUT', `/contacts/${contact.id}`, {});
    await ws.request('PUT', `/contacts/${contact.id}`, { tags: [' a '], custom_attributes: { none: null } });
  });
  assert.deepEqual(events, []);
});

test('POST /conversations raises conversation.created with the conversation as GET returns it', async () => {
  const contact = await makeContact(ws);
  const channel = await makeChannel(ws);
  let made: Data;
  const events = await during(
    async () => (made = await makeConversation(ws, { contact_id: contact.id, channel_id: channel.id })),
  );
  assert.deepEqual(names(events), ['conversation.created']);
  assertEnvelope(events[0], 'conversation.created');
  assert.deepEqual(events[0].data, { conversation: made });
  assert.deepEqual(events[0].data, { conversation: await read(ws, `/conversations/${made.id}`) });
});

test('POST /conversations with a message raises conversation.created and then message.created', async () => {
  const [contact, channel] = [await makeContact(ws), await makeChannel(ws)];
  const message = { content: 'Hello' };
  const events = await during(() =>
    makeConversation(ws, { contact_id: contact.id, channel_id: channel.id, message }),
  );
  assert.deepEqual(names(events), ['conversation.created', 'message.created']);
});

test('POST /conversations with assignee_id raises no conversation.updated', async () => {
  const agent = await makeAgent(ws);
  const events = await during(() => makeConversation(ws, { assignee_id: agent.id }));
  assert.equal(names(events).includes('conversation.updated'), false);
});

const changed: [what: string, body: () => Promise<object>, changes: () => Promise<object>][] = [
  ['status', async () => ({ status: 'pending' }), async () => ({ status: { from: 'open', to: 'pending' } })],
  ['labels', async () => ({ labels: ['vip'] }), async () => ({ labels: { from: [], to: ['vip'] } })],
  [
    'assignee',
    async () => ({ assignee_id: (await agent).id }),
    async () => ({ assignee: { from: null, to: { id: (await agent).id, name: 'Grace' } } }),
  ],
  [
    'team',
    async () => ({ team_id: (await team).id }),
    async () => ({ team: { from: null, to: { id: (await team).id, name: 'Support' } } }),
  ],
];
const agent = makeAgent(ws, { name: 'Grace' });
const team = makeTeam(ws, { name: 'Support' });

for (const [what, body, changes] of changed) {
  test(`a change of ${what} raises conversation.updated with the conversation and the change`, async () => {
    const { id } = await makeConversation(ws);
    const patch = await body();
    const events = await during(() => patchConversation(ws, id, patch));
    assert.deepEqual(names(events), ['conversation.updated']);
    assertEnvelope(events[0], 'conversation.updated');
    const conversation = await read(ws, `/conversations/${id}`);
    assert.deepEqual(events[0].data, { conversation, changes: await changes() });
    assert.equal(events[0].timestamp, conversation.updated_at);
  });
}

test('one PATCH raises one conversation.updated with all its changes, and conversation.resolved beside it', async () => {
  const { id } = await makeConversation(ws);
  const { id: assignee_id } = await agent;
  const events = await during(() =>
    patchConversation(ws, id, { status: 'resolved', assignee_id, labels: ['a'] }),
  );
  assert.deepEqual(names(events).toSorted(), ['conversation.resolved', 'conversation.updated']);
  const updated = events.find(({ event }) => event === 'conversation.updated');
  assert.deepEqual(Object.keys(updated.data.changes).toSorted(), ['assignee', 'labels', 'status']);
  const resolved = events.find(({ event }) => event === 'conversation.resolved');
  assertEnvelope(resolved, 'conversation.resolved');
  assert.deepEqual(resolved.data, { conversation: await read(ws, `/conversations/${id}`) });
});

test('a resolved conversation whose labels change raises no second conversation.resolved', async () => {
  const { id } = await makeConversation(ws);
  await patchConversation(ws, id, { status: 'resolved' });
  const events = await during(() => patchConversation(ws, id, { status: 'resolved', labels: ['later'] }));
  assert.deepEqual(names(events), ['conversation.updated']);
});

test('a sent message raises message.created with message, conversation, contact and channel exactly', async () => {
  const contact = await makeContact(ws, { name: 'Ada', phone: '+4915112345678' });
  const channel = await makeChannel(ws);
  const { id } = await makeConversation(ws, { contact_id: contact.id, channel_id: channel.id });
  let message: Data;
  const events = await during(async () => (message = await sendMessage(ws, id, { content: 'Hello' })));
  assert.deepEqual(names(events), ['message.created']);
  assertEnvelope(events[0], 'message.created');
  assert.deepEqual(events[0].data, {
    message: {
      id: message.id,
      type: 'outgoing',
      content: 'Hello',
      created_at: message.created_at,
      private: false,
      sender: { type: 'bot', id: ws.keyId, name: 'Test key' },
    },
    conversation: { id, status: 'open' },
    contact: { id: contact.id, name: 'Ada', phone: '+4915112345678' },
    channel: { id: channel.id, type: 'api' },
  });
});

test('message.created carries the attachments of a message that has some', async () => {
  const { id } = await makeConversation(ws);
  const attachments = [{ url: 'https://93.184.215.14/a.png', content_type: 'image/png', file_name: 'a.png' }];
  let message: Data;
  const events = await during(async () => (message = await sendMessage(ws, id, { attachments })));
  assert.deepEqual(events[0].data.message.attachments, message.attachments);
  assert.equal(message.attachments.length, 1);
});

test('a received message raises contact.created, conversation.created and message.created, in this order', async () => {
  const channel = await makeChannel(ws);
  let received: Data;
  const events = await during(async () => {
    received = await receive(ws, channel.id, { from: { external_id: 'e1', name: 'Ada' }, content: 'Hi' });
  });
  assert.deepEqual(names(events), ['contact.created', 'conversation.created', 'message.created']);
  assert.deepEqual(events[2].data.message, {
    id: received.message.id,
    type: 'incoming',
    content: 'Hi',
    created_at: received.message.created_at,
    private: false,
    sender: { type: 'contact', id: received.contact.id, name: 'Ada' },
  });
});

test('a private note raises message.created with private true', async () => {
  const { id } = await makeConversation(ws);
  const events = await during(() => sendMessage(ws, id, { content: 'Note', private: true }));
  assert.deepEqual(names(events), ['message.created']);
  assert.equal(events[0].data.message.private, true);
});

test('activity messages raise no message.created', async () => {
  const { id } = await makeConversation(ws);
  const events = await during(() => patchConversation(ws, id, { status: 'pending', labels: ['a'] }));
  assert.equal(names(events).includes('message.created'), false);
});

test('a received message never raises contact.updated', async () => {
  const channel = await makeChannel(ws);
  await receive(ws, channel.id, { from: { external_id: 'e2', name: 'Ada' } });
  const events = await during(() =>
    receive(ws, channel.id, { from: { external_id: 'e2', name: 'Augusta', email: 'ada@example.com' } }),
  );
  assert.deepEqual(names(events), ['message.created']);
});

test('a request that is refused raises nothing', async () => {
  const [contact, channel] = [await makeContact(ws), await makeChannel(ws)];
  const base = { contact_id: contact.id, channel_id: channel.id };
  const events = await during(async () => {
    assertError(await ws.request('POST', '/conversations', { ...base, message: { content: ' ' } }), 422);
    assertError(await ws.request('POST', '/contacts', { name: '' }), 422);
  });
  assert.deepEqual(events, []);
});

test('events of one workspace are never written for another', async () => {
  const other = await service.workspace();
  await makeContact(other);
  const [event] = await eventsOf(service, other);
  assert.equal(event.workspace_id, other.id);
  assert.equal((await eventsOf(service, other)).length, 1);
});

test('an event is stored under its own id and type, in the transaction of the change it tells of', async () => {
  const contact = await makeContact(ws);
  const [row] = await service.sql<{ id: string; type: string; body: string; together: boolean }>(
    `select e.id, e.type, e.body, e.xmin = c.xmin as together from events e
     join contacts c on c.workspace_id = e.workspace_id and c.id = $1
     where e.type = 'contact.created' and e.body like $2`,
    [fromId('contact', contact.id), `%${contact.id}%`],
  );
  assert.equal(row?.together, true);
  assert.equal(fromId('event', JSON.parse(row.body).id), row.id);
  assert.equal(row.type, 'contact.created');
});

test('a message, its activity and its events commit together or not at all', async () => {
  const { id } = await makeConversation(ws);
  await patchConversation(ws, id, { status: 'resolved' });
  const rows = await service.sql<{ n: number }>(
    `select count(distinct x) as n from (
       select xmin::text as x from conversations where id = $1
       union all select xmin::text from messages where conversation_id = $1
       union all select xmin::text from events where body like $2 and type <> 'conversation.created') t`,
    [fromId('conversation', id), `%${id}%`],
  );
  assert.equal(rows[0]?.n, 1);
});
