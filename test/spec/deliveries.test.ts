import assert from 'node:assert/strict';
import test from 'node:test';
import {
  assertError,
  create,
  type Data,
  eventsOf,
  makeContact,
  makeConversation,
  makeWebhook,
  patchConversation,
  read,
  sendMessage,
  timestamp,
} from '../factory.ts';
import { startService, type Workspace } from '../harness.ts';

/** What is queued for whom. That it arrives, signed and in time, is tested with the worker. */
const service = await startService();
const six = [
  'conversation.created',
  'conversation.updated',
  'conversation.resolved',
  'message.created',
  'contact.created',
  'contact.updated',
];

const deliveriesOf = (ws: Workspace, { id }: Data): Promise<Data[]> =>
  read(ws, `/webhooks/${id}/deliveries?per_page=100`);
const typesOf = (deliveries: Data[]): string[] => deliveries.map(({ event }) => event);

/** Raises each of the six events once. */
async function raiseAll(ws: Workspace) {
  const contact = await makeContact(ws);
  await ws.request('PUT', `/contacts/${contact.id}`, { name: 'Changed' });
  const { id } = await makeConversation(ws, { contact_id: contact.id });
  await sendMessage(ws, id, { content: 'Hello' });
  await patchConversation(ws, id, { status: 'resolved' });
}

test('a webhook that subscribed to all six events is sent each of them once', async () => {
  const ws = await service.workspace();
  const webhook = await makeWebhook(ws, { events: six });
  await raiseAll(ws);
  assert.deepEqual(typesOf(await deliveriesOf(ws, webhook)).toSorted(), six.toSorted());
});

for (const event of six) {
  test(`a webhook that subscribed to ${event} is sent only events of that type`, async () => {
    const ws = await service.workspace();
    const webhook = await makeWebhook(ws, { events: [event] });
    await raiseAll(ws);
    assert.deepEqual(typesOf(await deliveriesOf(ws, webhook)), [event]);
  });
}

test('each webhook that subscribed is sent the same event, with the same id', async () => {
  const ws = await service.workspace();
  const webhooks = [
    await makeWebhook(ws, { events: six }),
    await makeWebhook(ws, { events: ['contact.created'] }),
  ];
  await makeContact(ws);
  const [event] = await eventsOf(service, ws);
  for (const webhook of webhooks) {
    assert.deepEqual(
      (await deliveriesOf(ws, webhook)).map(({ event_id }) => event_id),
      [event.id],
    );
  }
});

test('a webhook is sent what is raised after it was registered or changed, not what was before', async () => {
  const ws = await service.workspace();
  await makeContact(ws);
  const webhook = await makeWebhook(ws, { events: ['contact.updated'] });
  const { id } = await makeContact(ws);
  assert.deepEqual(await deliveriesOf(ws, webhook), []);
  await ws.request('PATCH', `/webhooks/${webhook.id}`, { events: ['contact.created'] });
  await ws.request('PUT', `/contacts/${id}`, { name: 'Changed' });
  await makeContact(ws);
  assert.deepEqual(typesOf(await deliveriesOf(ws, webhook)), ['contact.created']);
});

test('a webhook is sent no event of another workspace', async () => {
  const [ws, other] = [await service.workspace(), await service.workspace()];
  const webhook = await makeWebhook(ws, { events: six });
  await raiseAll(other);
  assert.deepEqual(await deliveriesOf(ws, webhook), []);
});

test('a request that is refused or changes nothing sends nothing', async () => {
  const ws = await service.workspace();
  const contact = await makeContact(ws);
  const webhook = await makeWebhook(ws, { events: six });
  assertError(await ws.request('POST', '/contacts', { name: '' }), 422);
  await ws.request('PUT', `/contacts/${contact.id}`, contact);
  assert.deepEqual(await deliveriesOf(ws, webhook), []);
});

test('a delivery in a list has exactly the documented fields', async () => {
  const ws = await service.workspace();
  const webhook = await makeWebhook(ws, { events: ['contact.created'] });
  await makeContact(ws);
  const [event] = await eventsOf(service, ws);
  const [delivery] = await deliveriesOf(ws, webhook);
  assert.deepEqual(delivery, {
    id: delivery.id,
    webhook_id: webhook.id,
    event: 'contact.created',
    event_id: event.id,
    state: 'pending',
    next_attempt_at: delivery.next_attempt_at,
    redelivery_of: null,
    attempts: 0,
    created_at: delivery.created_at,
  });
  assert.match(delivery.id, /^dlv_[0-9a-z]{26}$/);
  assert.match(delivery.next_attempt_at, timestamp);
  assert.match(delivery.created_at, timestamp);
});

test('GET /deliveries/{id} shows every attempt and the exact body', async () => {
  const ws = await service.workspace();
  const webhook = await makeWebhook(ws, { events: ['contact.created'] });
  await makeContact(ws, { name: 'Zoë 😀\u2028' });
  const [delivery] = await deliveriesOf(ws, webhook);
  const [row] = await service.sql<{ body: string }>(`select body from events where workspace_id = $1`, [
    ws.uuid,
  ]);
  assert.deepEqual(await read(ws, `/deliveries/${delivery.id}`), {
    ...delivery,
    attempts: [],
    body: row?.body,
  });
});

test('POST /webhooks/{id}/test opens a delivery of an event the webhook subscribed to', async () => {
  const ws = await service.workspace();
  const webhook = await makeWebhook(ws, { events: ['contact.updated'] });
  const delivery = await create(ws, `/webhooks/${webhook.id}/test`, {});
  assert.equal(delivery.event, 'contact.updated');
  assert.equal(delivery.state, 'pending');
  assert.deepEqual(typesOf(await deliveriesOf(ws, webhook)), ['contact.updated']);
});

test('a delivery that is not there answers 404 and names the delivery', async () => {
  const ws = await service.workspace();
  const answer = await ws.request('GET', '/deliveries/nonsense');
  assert.equal(assertError(answer, 404).message, 'Delivery not found');
});
