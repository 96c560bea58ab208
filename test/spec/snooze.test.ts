import assert from 'node:assert/strict';
import test from 'node:test';
import { reopenDueSnoozes } from '../../server/conversations/snooze.ts';
import { fromId } from '../../server/ids.ts';
import {
  activitiesOf,
  assertError,
  eventsDuring,
  eventually,
  makeChannel,
  makeConversation,
  patchConversation,
  read,
  receive,
} from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const later = '2099-01-01T08:00:00.000Z';

async function snoozed(until: string | null = later) {
  const { id } = await makeConversation(ws);
  return patchConversation(ws, id, { status: 'snoozed', ...(until && { snoozed_until: until }) });
}

/** As if the time had come that long ago. */
async function makeDue(id: string, ago = '1 second') {
  await service.sql(
    `update conversations set snoozed_until = clock_timestamp() - $2::interval where id = $1`,
    [fromId('conversation', id), ago],
  );
}

test('PATCH with status snoozed and snoozed_until snoozes until then', async () => {
  const conversation = await snoozed();
  assert.equal(conversation.status, 'snoozed');
  assert.equal(conversation.snoozed_until, later);
});

test('snoozed_until in another time zone comes back in UTC', async () => {
  const { snoozed_until } = await snoozed('2099-01-01T09:00:00+01:00');
  assert.equal(snoozed_until, later);
});

test('a snooze without snoozed_until has none and lasts until the customer writes', async () => {
  const channel = await makeChannel(ws);
  const { contact, conversation } = await receive(ws, channel.id, { from: { external_id: 'a' } });
  const { snoozed_until } = await patchConversation(ws, conversation.id, { status: 'snoozed' });
  assert.equal(snoozed_until, null);
  await reopenDueSnoozes(service.ctx);
  assert.equal((await read(ws, `/conversations/${conversation.id}`)).status, 'snoozed');
  const second = await receive(ws, channel.id, { from: { external_id: 'a' } });
  assert.equal(second.contact.id, contact.id);
  assert.equal(second.conversation.id, conversation.id);
  assert.equal((await read(ws, `/conversations/${conversation.id}`)).status, 'open');
});

test('an incoming message ends a snooze before its time', async () => {
  const channel = await makeChannel(ws);
  const { conversation } = await receive(ws, channel.id, { from: { external_id: 'b' } });
  await patchConversation(ws, conversation.id, { status: 'snoozed', snoozed_until: later });
  await receive(ws, channel.id, { from: { external_id: 'b' } });
  const { status, snoozed_until } = await read(ws, `/conversations/${conversation.id}`);
  assert.deepEqual({ status, snoozed_until }, { status: 'open', snoozed_until: null });
});

test('a due snooze reopens by itself: open, snoozed_until null, updated_at moved', async () => {
  const before = await snoozed();
  await makeDue(before.id);
  await reopenDueSnoozes(service.ctx);
  const after = await read(ws, `/conversations/${before.id}`);
  assert.equal(after.status, 'open');
  assert.equal(after.snoozed_until, null);
  assert.ok(after.updated_at > before.updated_at);
});

test('a snooze that fell due a year ago, while the service was down, reopens', async () => {
  const { id } = await snoozed();
  await makeDue(id, '1 year');
  await reopenDueSnoozes(service.ctx);
  assert.equal((await read(ws, `/conversations/${id}`)).status, 'open');
});

test('a snooze that is not due is never reopened', async () => {
  const before = await snoozed();
  await makeDue(before.id, '-10 seconds');
  const still = await read(ws, `/conversations/${before.id}`);
  await reopenDueSnoozes(service.ctx);
  assert.deepEqual(await read(ws, `/conversations/${before.id}`), still);
});

test('a due snooze raises conversation.updated with the move', async () => {
  const { id } = await snoozed();
  await makeDue(id);
  const events = await eventsDuring(service, ws, () => reopenDueSnoozes(service.ctx));
  assert.equal(events.length, 1);
  const [{ event, data }] = events as [{ event: string; data: Record<string, unknown> }];
  assert.equal(event, 'conversation.updated');
  assert.deepEqual(data['changes'], { status: { from: 'snoozed', to: 'open' } });
  assert.deepEqual(data['conversation'], await read(ws, `/conversations/${id}`));
});

test('a due snooze adds an activity message of the system', async () => {
  const { id } = await snoozed();
  await makeDue(id);
  await reopenDueSnoozes(service.ctx);
  const activities = await activitiesOf(ws, id);
  assert.equal(activities.length, 2);
  assert.deepEqual(activities[1].sender, { type: 'bot', id: 'bot_system', name: 'System' });
});

test('several processes that look at once reopen a due snooze once', async () => {
  const other = await startService({ url: service.databaseUrl });
  const { id } = await snoozed();
  await makeDue(id);
  const events = await eventsDuring(service, ws, () =>
    Promise.all([service, other, service, other].map(({ ctx }) => reopenDueSnoozes(ctx))),
  );
  assert.equal(events.length, 1);
  assert.equal((await activitiesOf(ws, id)).length, 2);
});

test('a conversation that is moved at the moment its snooze falls due stays where it was moved', async () => {
  const { id } = await snoozed();
  await makeDue(id);
  const { promise: moved, resolve: isMoved } = Promise.withResolvers<void>();
  const { promise: found, resolve: isFound } = Promise.withResolvers<void>();
  const move = service.ctx.db.transaction(async (tx) => {
    const text = `update conversations set status = 'resolved', snoozed_until = null where id = $1`;
    await tx.queryText(text, [fromId('conversation', id)]);
    isMoved();
    await found;
  });
  await moved;
  const reopening = reopenDueSnoozes(service.ctx);
  await eventually(
    3_000,
    () =>
      service.sql(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      ),
    (waiting) => waiting.length > 0,
  );
  isFound();
  await move;
  assert.equal(await reopening, 0);
  assert.equal((await read(ws, `/conversations/${id}`)).status, 'resolved');
});

test('more than a hundred due snoozes all reopen', async () => {
  const crowd = await service.workspace();
  const { id } = await makeConversation(crowd);
  await service.sql(
    `insert into conversations (workspace_id, id, channel_id, contact_id, status, snoozed_until)
     select workspace_id, gen_random_uuid(), channel_id, contact_id, 'snoozed', clock_timestamp()
     from conversations, generate_series(1, 120) where id = $1`,
    [fromId('conversation', id)],
  );
  assert.equal(await reopenDueSnoozes(service.ctx), 120);
  const { meta } = (await crowd.request('GET', '/conversations?status=open')).body;
  assert.equal(meta.total, 121);
});

for (const status of ['open', 'pending', 'resolved']) {
  test(`moving to ${status} ends the snooze: snoozed_until is null`, async () => {
    const { id } = await snoozed();
    const { snoozed_until } = await patchConversation(ws, id, { status });
    assert.equal(snoozed_until, null);
  });
}

test('a new snoozed_until on a snoozed conversation moves updated_at', async () => {
  const before = await snoozed();
  const after = await patchConversation(ws, before.id, { snoozed_until: '2099-02-01T00:00:00.000Z' });
  assert.equal(after.snoozed_until, '2099-02-01T00:00:00.000Z');
  assert.ok(after.updated_at > before.updated_at);
});

test('repeating the same snooze changes nothing', async () => {
  const before = await snoozed();
  const events = await eventsDuring(service, ws, async () => {
    const after = await patchConversation(ws, before.id, { status: 'snoozed', snoozed_until: later });
    assert.deepEqual(after, before);
  });
  assert.deepEqual(events, []);
});

const refused: [why: string, body: object, status: number][] = [
  ['without status snoozed', { snoozed_until: later }, 422],
  ['with another status', { status: 'pending', snoozed_until: later }, 422],
  ['in the past', { status: 'snoozed', snoozed_until: '2020-01-01T00:00:00Z' }, 422],
  ['that is no timestamp', { status: 'snoozed', snoozed_until: 'tomorrow' }, 422],
  ['on a day that does not exist', { status: 'snoozed', snoozed_until: '2099-02-30T00:00:00Z' }, 422],
  ['that is no string', { status: 'snoozed', snoozed_until: 4_070_908_800 }, 400],
];

for (const [why, body, status] of refused) {
  test(`snoozed_until ${why} answers ${status} and changes nothing`, async () => {
    const before = await makeConversation(ws);
    assertError(await ws.request('PATCH', `/conversations/${before.id}`, body), status, 'snoozed_until');
    assert.deepEqual(await read(ws, `/conversations/${before.id}`), before);
  });
}
