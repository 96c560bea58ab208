import assert from 'node:assert/strict';
import test from 'node:test';
import {
  activitiesOf,
  assertError,
  eventsDuring,
  makeConversation,
  patchConversation,
  read,
} from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const statuses = ['open', 'pending', 'resolved', 'snoozed'];

const inStatus = async (status: string) => {
  const conversation = await makeConversation(ws);
  return patchConversation(ws, conversation.id, { status });
};

for (const from of statuses) {
  for (const to of statuses.filter((status) => status !== from)) {
    test(`PATCH moves a conversation from ${from} to ${to}`, async () => {
      const conversation = await inStatus(from);
      const { status } = await patchConversation(ws, conversation.id, { status: to });
      assert.equal(status, to);
      assert.equal((await read(ws, `/conversations/${conversation.id}`)).status, to);
    });
  }
}

test('a new conversation is open', async () => {
  assert.equal((await makeConversation(ws)).status, 'open');
});

for (const status of ['closed', 'Open', '', ' open']) {
  test(`a status outside the four ("${status}") answers 400 and moves nothing`, async () => {
    const conversation = await inStatus('pending');
    const answer = await ws.request('PATCH', `/conversations/${conversation.id}`, { status });
    assertError(answer, 400, 'status');
    assert.deepEqual(await read(ws, `/conversations/${conversation.id}`), conversation);
  });
}

test('a status that is not a string answers 400', async () => {
  const { id } = await makeConversation(ws);
  for (const status of [null, 1, true, ['open'], {}]) {
    assertError(await ws.request('PATCH', `/conversations/${id}`, { status }), 400, 'status');
  }
});

test('a move raises conversation.updated once', async () => {
  const { id } = await makeConversation(ws);
  const events = await eventsDuring(service, ws, () => patchConversation(ws, id, { status: 'pending' }));
  assert.deepEqual(
    events.map(({ event }) => event),
    ['conversation.updated'],
  );
});

for (const from of ['open', 'pending', 'snoozed']) {
  test(`a move from ${from} to resolved raises conversation.resolved beside conversation.updated`, async () => {
    const { id } = await inStatus(from);
    const events = await eventsDuring(service, ws, () => patchConversation(ws, id, { status: 'resolved' }));
    const names = events.map(({ event }): string => event).toSorted();
    assert.deepEqual(names, ['conversation.resolved', 'conversation.updated']);
  });
}

test('leaving resolved raises no conversation.resolved', async () => {
  const { id } = await inStatus('resolved');
  const events = await eventsDuring(service, ws, () => patchConversation(ws, id, { status: 'open' }));
  assert.deepEqual(
    events.map(({ event }) => event),
    ['conversation.updated'],
  );
});

for (const status of statuses) {
  test(`repeating the status ${status} answers 200, raises nothing, adds no activity, leaves updated_at`, async () => {
    const conversation = await inStatus(status);
    const activities = await activitiesOf(ws, conversation.id);
    const events = await eventsDuring(service, ws, async () => {
      assert.deepEqual(await patchConversation(ws, conversation.id, { status }), conversation);
    });
    assert.deepEqual(events, []);
    assert.deepEqual(await activitiesOf(ws, conversation.id), activities);
    assert.deepEqual(await read(ws, `/conversations/${conversation.id}`), conversation);
  });
}

test('a move adds one activity message that names both statuses', async () => {
  const { id } = await makeConversation(ws);
  await patchConversation(ws, id, { status: 'pending' });
  const activities = await activitiesOf(ws, id);
  assert.equal(activities.length, 1);
  assert.match(activities[0].content, /open/);
  assert.match(activities[0].content, /pending/);
});

test('parallel moves to resolved resolve once: one event, one activity', async () => {
  const { id } = await makeConversation(ws);
  const events = await eventsDuring(service, ws, () =>
    Promise.all(Array.from({ length: 10 }, () => patchConversation(ws, id, { status: 'resolved' }))),
  );
  assert.equal(events.filter(({ event }) => event === 'conversation.resolved').length, 1);
  assert.equal(events.filter(({ event }) => event === 'conversation.updated').length, 1);
  assert.equal((await activitiesOf(ws, id)).length, 1);
});
