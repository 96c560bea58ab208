import assert from 'node:assert/strict';
import test from 'node:test';
import { atEnd, startService } from '../../../test/harness.ts';
import { eventually, type Received, receiverCa, receiverEnv, startReceiver } from '../../../test/receiver.ts';
import { startDeliveryWorker } from './worker.ts';

/** The real schedule, with the database's clock moved by moving what is due: nothing else decides when. */
const service = await startService({ env: receiverEnv, egress: { ca: receiverCa } });
const worker = startDeliveryWorker(service.ctx);
atEnd(() => worker.stop());
const schedule = [5, 30, 120, 600, 1800];

async function failing() {
  const workspace = await service.workspace();
  const receiver = await startReceiver();
  receiver.answer((_received, response) => void response.writeHead(500).end('no'));
  const { body } = await workspace.request('POST', '/webhooks', {
    url: receiver.url(),
    events: ['contact.created'],
  });
  const webhookId: string = body.data.id;
  await workspace.request('POST', '/contacts', { name: 'Zoë \u{1F98A}\u2028' });
  const log = async () => (await workspace.request('GET', `/webhooks/${webhookId}/deliveries`)).body.data[0];
  return { workspace, receiver, webhookId, log };
}

const waitingFor = async (workspace: { uuid: string }) => {
  const [row] = await service.sql<{ attempts: number; wait: number; leased: boolean }>(
    `select q.attempts, q.claim_id is not null as leased,
       extract(epoch from q.next_at - (select max(at) + max(duration_ms) * interval '1 ms' from delivery_attempts a
         where a.delivery_id = q.id and a.n = q.attempts))::float8 as wait
     from delivery_queue q where workspace_id = $1`,
    [workspace.uuid],
  );
  return row;
};

const timePasses = (workspace: { uuid: string }, seconds: number) =>
  service.sql(`update delivery_queue set next_at = next_at - $2 * interval '1 s' where workspace_id = $1`, [
    workspace.uuid,
    seconds,
  ]);

test('a failed delivery is tried again 5 s, 30 s, 2 min, 10 min and 30 min after each failure, then recorded as failed', async () => {
  const { workspace, receiver, log } = await failing();
  for (const [index, seconds] of schedule.entries()) {
    await receiver.waitFor(index + 1);
    const row = await eventually(async () => {
      const found = await waitingFor(workspace);
      assert.equal(found?.attempts, index + 1);
      assert.equal(found.leased, false);
      return found;
    });
    assert.ok(
      row.wait >= seconds - 0.01 && row.wait < seconds + 1,
      `attempt ${index + 1} waits ${row.wait} s`,
    );
    await timePasses(workspace, seconds - 0.5);
    worker.wake();
    assert.equal(receiver.received.length, index + 1, 'never early');
    await timePasses(workspace, 1);
    worker.wake();
  }
  await receiver.waitFor(6);
  const delivery = await eventually(async () => {
    const found = await log();
    assert.equal(found.state, 'failed');
    return found;
  });
  assert.equal(delivery.attempts, 6);
  assert.equal(await waitingFor(workspace), undefined);
  worker.wake();
  assert.equal(receiver.received.length, 6, 'never a seventh');
});

test('every attempt carries the same bytes, event id and delivery id', async () => {
  const { workspace, receiver } = await failing();
  for (let n = 1; n <= 5; n++) {
    await receiver.waitFor(n);
    await eventually(async () => assert.equal((await waitingFor(workspace))?.attempts, n));
    await timePasses(workspace, 2000);
    worker.wake();
  }
  const all = await receiver.waitFor(6);
  assert.equal(new Set(all.map(({ body }) => body)).size, 1);
  assert.equal(new Set(all.map(({ headers }) => headers['x-service-signature'])).size, 1);
  assert.equal(new Set(all.map(({ headers }) => headers['x-service-delivery'])).size, 1);
  assert.deepEqual(
    all.map(({ headers }) => headers['x-service-attempt']),
    ['1', '2', '3', '4', '5', '6'],
  );
});

test('a restart in the middle of the schedule neither repeats nor skips an attempt', async () => {
  const { workspace, receiver } = await failing();
  await receiver.waitFor(1);
  await eventually(async () => assert.equal((await waitingFor(workspace))?.attempts, 1));
  const other = await startService({
    env: receiverEnv,
    egress: { ca: receiverCa },
    url: service.databaseUrl,
  });
  const second = startDeliveryWorker(other.ctx);
  await timePasses(workspace, 6);
  worker.wake();
  second.wake();
  await receiver.waitFor(2);
  await eventually(async () => assert.equal((await waitingFor(workspace))?.attempts, 2));
  await second.stop();
  assert.equal(receiver.received.length, 2);
});

test('any status but 2xx is a failure: 3xx is not followed, 4xx and 410 are retried', async () => {
  for (const status of [301, 304, 400, 404, 410, 429, 503]) {
    const { workspace, receiver, webhookId } = await failing();
    receiver.received.length = 0;
    receiver.answer((_received, response) => {
      response.writeHead(status, { location: 'https://127.0.0.1:1/' }).end();
    });
    await workspace.request('POST', '/contacts', { name: 'Again' });
    await receiver.waitFor(1);
    const { body } = await eventually(async () => {
      const list = await workspace.request('GET', `/webhooks/${webhookId}/deliveries`);
      const one = await workspace.request('GET', `/deliveries/${list.body.data[0].id}`);
      assert.equal(one.body.data.attempts.length, 1);
      return one;
    });
    assert.equal(body.data.state, 'pending');
    assert.equal(body.data.attempts[0].status, status);
    assert.equal(body.data.attempts[0].error, 'status');
  }
});

test('failing_since tells since when every attempt has failed, and is null again after a success', async () => {
  const { workspace, receiver, webhookId } = await failing();
  const since = () =>
    workspace.request('GET', `/webhooks/${webhookId}`).then(({ body }) => body.data.failing_since);
  await receiver.waitFor(1);
  await eventually(async () => assert.ok(await since()));
  receiver.answer((_received: Received, response) => void response.end());
  await timePasses(workspace, 6);
  worker.wake();
  await eventually(async () => assert.equal(await since(), null));
});

test('a webhook with a new URL has not failed there yet: failing_since is null again', async () => {
  const { workspace, receiver, webhookId } = await failing();
  const change = async (body: object) =>
    (await workspace.request('PATCH', `/webhooks/${webhookId}`, body)).body.data.failing_since;
  await receiver.waitFor(1);
  await eventually(async () => assert.ok(await change({ events: ['contact.created'] })));
  assert.ok(await change({ url: receiver.url() }), 'the same URL is no new one');
  assert.equal(await change({ url: receiver.url('/elsewhere') }), null);
});
