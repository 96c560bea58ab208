import assert from 'node:assert/strict';
import test from 'node:test';
import { atEnd, startService } from '../../../test/harness.ts';
import { eventually, receiverCa, receiverEnv, startReceiver } from '../../../test/receiver.ts';
import { eventTypes } from '../../events/names.ts';
import { startDeliveryWorker } from '../delivery/worker.ts';

const service = await startService({
  env: { ...receiverEnv, INBOX_WEBHOOK_RETRY_SECONDS: '0.01,0.01,0.01,0.01,0.01' },
  egress: { ca: receiverCa },
});
const worker = startDeliveryWorker(service.ctx);
atEnd(() => worker.stop());

async function subscribed(events: readonly string[] = ['contact.created']) {
  const workspace = await service.workspace();
  const receiver = await startReceiver();
  const { body } = await workspace.request('POST', '/webhooks', { url: receiver.url(), events });
  const webhookId: string = body.data.id;
  const log = async (query = '') =>
    (await workspace.request('GET', `/webhooks/${webhookId}/deliveries${query}`)).body;
  const ended = (count: number) =>
    eventually(async () => {
      const { data } = await log();
      assert.equal(data.filter(({ state }: { state: string }) => state !== 'pending').length, count);
      return data;
    });
  return { workspace, receiver, webhookId, log, ended };
}

test('a delivery is readable with every attempt, its answer and the exact body', async () => {
  const { workspace, receiver, ended } = await subscribed();
  let calls = 0;
  receiver.answer((_received, response) => {
    response.statusCode = ++calls < 3 ? 503 : 200;
    response.end(`answer ${calls}`);
  });
  await workspace.request('POST', '/contacts', { name: 'Ada' });
  const [delivery] = await ended(1);
  assert.equal(delivery.state, 'delivered');
  assert.equal(delivery.attempts, 3);
  assert.equal(delivery.next_attempt_at, null);
  const { body } = await workspace.request('GET', `/deliveries/${delivery.id}`);
  assert.equal(body.data.body, receiver.received[0]!.body);
  assert.deepEqual(
    body.data.attempts.map(({ n, status, error, response }: Record<string, unknown>) => [
      n,
      status,
      error,
      response,
    ]),
    [
      [1, 503, 'status', 'answer 1'],
      [2, 503, 'status', 'answer 2'],
      [3, 200, null, 'answer 3'],
    ],
  );
  for (const { at, duration_ms } of body.data.attempts) {
    assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(duration_ms >= 0);
  }
});

test('the log filters by state and by event, newest first, with true totals', async () => {
  const { workspace, receiver, log, ended } = await subscribed(['contact.created', 'contact.updated']);
  const { body } = await workspace.request('POST', '/contacts', { name: 'Ada' });
  await ended(1);
  receiver.answer((_received, response) => void response.writeHead(500).end());
  await workspace.request('PUT', `/contacts/${body.data.id}`, { name: 'Ada L.' });
  const all = await ended(2);
  assert.deepEqual(
    all.map(({ event, state }: Record<string, string>) => [event, state]),
    [
      ['contact.updated', 'failed'],
      ['contact.created', 'delivered'],
    ],
  );
  assert.equal((await log('?state=failed')).meta.total, 1);
  assert.equal((await log('?state=pending')).meta.total, 0);
  assert.equal((await log('?event=contact.created')).data[0].state, 'delivered');
  assert.equal((await log('?state=delivered&event=contact.updated')).meta.total, 0);
  assert.equal((await log('?per_page=1&page=2')).data[0].event, 'contact.created');
  assert.equal((await workspace.request('GET', `/webhooks/x/deliveries?state=lost`)).status, 400);
});

test('redelivering opens a new delivery of the same event with the same bytes', async () => {
  const { workspace, receiver, ended } = await subscribed();
  await workspace.request('POST', '/contacts', { name: 'Ada' });
  const [first] = await ended(1);
  const { status, body } = await workspace.request('POST', `/deliveries/${first.id}/redeliver`);
  assert.equal(status, 201);
  assert.equal(body.data.redelivery_of, first.id);
  assert.equal(body.data.event_id, first.event_id);
  const [one, two] = await receiver.waitFor(2);
  assert.equal(two!.body, one!.body);
  assert.equal(two!.headers['webhook-id'], one!.headers['webhook-id']);
  assert.notEqual(two!.headers['x-service-delivery'], one!.headers['x-service-delivery']);
  assert.equal((await workspace.request('POST', `/deliveries/dlv_nope/redeliver`)).status, 404);
});

test('recover sends again all that failed since a time, each once', async () => {
  const { workspace, receiver, webhookId, ended, log } = await subscribed();
  receiver.answer((_received, response) => void response.writeHead(500).end());
  const before = new Date(Date.now() - 60_000).toISOString();
  for (let i = 0; i < 3; i++) await workspace.request('POST', '/contacts', { name: `Contact ${i}` });
  await ended(3);
  receiver.answer((_received, response) => void response.end());
  const recover = (since: string) => workspace.request('POST', `/webhooks/${webhookId}/recover`, { since });
  assert.deepEqual((await recover(before)).body.data, { recovered: 3, has_more: false });
  await ended(6);
  assert.equal((await log('?state=delivered')).meta.total, 3);
  assert.deepEqual((await recover(before)).body.data, { recovered: 0, has_more: false });
  assert.equal((await recover('yesterday')).status, 422);
  assert.equal((await workspace.request('POST', `/webhooks/${webhookId}/recover`, {})).status, 400);
});

test('of many recoveries at once one sends each failed delivery again, the others none', async () => {
  const { workspace, receiver, webhookId, ended } = await subscribed();
  receiver.answer((_received, response) => void response.writeHead(500).end());
  const since = new Date(Date.now() - 60_000).toISOString();
  await Promise.all(
    Array.from({ length: 25 }, (_, i) => workspace.request('POST', '/contacts', { name: `Contact ${i}` })),
  );
  await ended(25);
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => workspace.request('POST', `/webhooks/${webhookId}/recover`, { since })),
  );
  const recovered = answers.map(({ body }) => body.data.recovered).toSorted((a, b) => b - a);
  assert.deepEqual(recovered, [25, 0, 0, 0, 0, 0, 0, 0]);
});

test('recover goes by the time of failure: an event from before that time is sent again too', async () => {
  const { workspace, receiver, webhookId, ended } = await subscribed();
  const failing = Promise.withResolvers<void>();
  receiver.answer((_received, response) => void failing.promise.then(() => response.writeHead(500).end()));
  await workspace.request('POST', '/contacts', { name: 'Ada' });
  await receiver.waitFor(1);
  const outage = new Date(Date.now() + 5).toISOString();
  await new Promise((resolve) => setTimeout(resolve, 10));
  failing.resolve();
  await ended(1);
  const recover = (since: string) => workspace.request('POST', `/webhooks/${webhookId}/recover`, { since });
  assert.equal((await recover(new Date(Date.now() + 60_000).toISOString())).body.data.recovered, 0);
  assert.equal((await recover(outage)).body.data.recovered, 1);
});

test('a test event reaches this webhook alone, marked as a test, for each of the six types', async () => {
  const { workspace, receiver, webhookId } = await subscribed();
  const other = await startReceiver();
  await workspace.request('POST', '/webhooks', { url: other.url(), events: [...eventTypes] });
  for (const event of eventTypes) {
    const { status, body } = await workspace.request('POST', `/webhooks/${webhookId}/test`, { event });
    assert.equal(status, 201);
    assert.equal(body.data.event, event);
  }
  const all = (await receiver.waitFor(6)).map(({ body }) => JSON.parse(body));
  assert.deepEqual(new Set(all.map(({ event }) => event)), new Set(eventTypes));
  assert.ok(all.every(({ test: isTest, workspace_id }) => isTest === true && workspace_id === workspace.id));
  assert.equal(other.received.length, 0);
  const first = await workspace.request('POST', `/webhooks/${webhookId}/test`);
  assert.equal(first.body.data.event, 'contact.created', 'without a word: the first type it subscribed to');
  const unknown = await workspace.request('POST', `/webhooks/${webhookId}/test`, {
    event: 'contact.deleted',
  });
  assert.equal(unknown.status, 422);
});

test('only subscribed types are delivered, and only of the own workspace', async () => {
  const { workspace, receiver, ended } = await subscribed(['contact.updated']);
  const { receiver: others } = await subscribed(['contact.created']);
  const { body } = await workspace.request('POST', '/contacts', { name: 'Ada' });
  await workspace.request('PUT', `/contacts/${body.data.id}`, { name: 'Ada L.' });
  await ended(1);
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['x-service-event']),
    ['contact.updated'],
  );
  assert.equal(others.received.length, 0);
});

test('deleting a webhook cancels what waits for it, and no attempt starts afterwards', async () => {
  const workspace = await service.workspace();
  const receiver = await startReceiver();
  const { body } = await workspace.request('POST', '/webhooks', {
    url: receiver.url(),
    events: ['contact.created'],
  });
  const held = Promise.withResolvers<void>();
  receiver.answer((_received, response) => void held.promise.then(() => response.writeHead(500).end()));
  for (let i = 0; i < 30; i++) await workspace.request('POST', '/contacts', { name: `Contact ${i}` });
  await receiver.waitFor(4); // the first cap of a new lane: the rest waits
  const { status } = await workspace.request('DELETE', `/webhooks/${body.data.id}`);
  assert.equal(status, 200);
  const startedBefore = receiver.received.length;
  held.resolve();
  await eventually(async () => {
    const rows = await service.sql('select from delivery_queue where workspace_id = $1', [workspace.uuid]);
    assert.equal(rows.length, 0);
  });
  assert.equal(receiver.received.length, startedBefore);
  const ended = await service.sql<{ state: string; n: number }>(
    'select state, count(*) as n from deliveries where workspace_id = $1 group by state',
    [workspace.uuid],
  );
  assert.equal(
    ended.find(({ state }) => state === 'delivered'),
    undefined,
  );
  assert.equal(
    ended.reduce((sum, { n }) => sum + n, 0),
    30,
  );
});
