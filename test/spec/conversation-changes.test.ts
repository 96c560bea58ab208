import assert from 'node:assert/strict';
import test from 'node:test';
import { toId } from '../../server/ids.ts';
import {
  activitiesOf,
  assertError,
  create,
  eventsDuring,
  inParallel,
  makeAgent,
  makeConversation,
  makeTeam,
  messagesOf,
  patchConversation,
  read,
  sendMessage,
} from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const grace = await makeAgent(ws, { name: 'Grace' });
const lin = await makeAgent(ws, { name: 'Lin' });
const support = await makeTeam(ws, { name: 'Support' });
const uuid = '01999999-9999-7999-8999-999999999999';

const patch = (id: string, body: unknown) => ws.request('PATCH', `/conversations/${id}`, body);

test('PATCH /conversations/{id} with assignee_id assigns that agent', async () => {
  const { id } = await makeConversation(ws);
  assert.deepEqual((await patchConversation(ws, id, { assignee_id: grace.id })).assignee, {
    id: grace.id,
    name: 'Grace',
  });
});

test('PATCH /conversations/{id} with assignee_id null unassigns', async () => {
  const { id } = await makeConversation(ws, { assignee_id: grace.id });
  assert.equal((await patchConversation(ws, id, { assignee_id: null })).assignee, null);
});

test('PATCH /conversations/{id} with team_id assigns that team, with null it unsets it', async () => {
  const { id } = await makeConversation(ws);
  const { team } = await patchConversation(ws, id, { team_id: support.id });
  assert.deepEqual(team, { id: support.id, name: 'Support' });
  assert.equal((await patchConversation(ws, id, { team_id: null })).team, null);
});

test('PATCH /conversations/{id} with labels replaces the existing labels entirely', async () => {
  const { id } = await makeConversation(ws);
  await patchConversation(ws, id, { labels: ['a', 'b'] });
  const { labels } = await patchConversation(ws, id, { labels: ['c', 'b'] });
  assert.deepEqual(labels, ['c', 'b']);
  assert.deepEqual((await read(ws, `/conversations/${id}`)).labels, ['c', 'b']);
  const [listed] = await read(ws, '/conversations?label=c');
  assert.deepEqual(listed.labels, ['c', 'b']);
  assert.deepEqual(await read(ws, '/conversations?label=a'), []);
});

test('PATCH /conversations/{id} with labels [] removes them all', async () => {
  const { id } = await makeConversation(ws);
  await patchConversation(ws, id, { labels: ['a', 'b'] });
  assert.deepEqual((await patchConversation(ws, id, { labels: [] })).labels, []);
});

test('labels are trimmed and named once', async () => {
  const { id } = await makeConversation(ws);
  const { labels } = await patchConversation(ws, id, { labels: [' vip ', 'vip', 'new\n'] });
  assert.deepEqual(labels, ['vip', 'new']);
});

test('a label is created on first use and then listed', async () => {
  const { id } = await makeConversation(ws);
  await patchConversation(ws, id, { labels: ['first-use'] });
  const names = (await read(ws, '/labels?per_page=100')).map(({ name }: { name: string }) => name);
  assert.equal(names.filter((name: string) => name === 'first-use').length, 1);
});

test('the same new label used by many at once is created once', async () => {
  const made = await inParallel(Array.from({ length: 10 }), 10, () => makeConversation(ws));
  await inParallel(made, 10, ({ id }, n) => patchConversation(ws, id, { labels: ['raced', `own-${n}`] }));
  const names = (await read(ws, '/labels?per_page=100')).map(({ name }: { name: string }) => name);
  assert.equal(names.filter((name: string) => name === 'raced').length, 1);
  const { meta } = (await ws.request('GET', '/conversations?label=raced')).body;
  assert.equal(meta.total, 10);
});

test('a conversation can have 50 labels, not 51', async () => {
  const { id } = await makeConversation(ws);
  const names = Array.from({ length: 51 }, (_, n) => `label ${n}`);
  assert.equal((await patchConversation(ws, id, { labels: names.slice(0, 50) })).labels.length, 50);
  assertError(await patch(id, { labels: names }), 422, 'labels');
});

test('a renamed label shows its new name on its conversations', async () => {
  const { id } = await makeConversation(ws);
  const label = await create(ws, '/labels', { name: 'old-name' });
  await patchConversation(ws, id, { labels: ['old-name'] });
  await ws.request('PATCH', `/labels/${label.id}`, { name: 'new-name' });
  assert.deepEqual((await read(ws, `/conversations/${id}`)).labels, ['new-name']);
});

test('an archived label stays on its conversations and is refused on others with 422', async () => {
  const label = await create(ws, '/labels', { name: 'retired' });
  const { id } = await makeConversation(ws);
  await patchConversation(ws, id, { labels: ['retired'] });
  await ws.request('DELETE', `/labels/${label.id}`);
  assert.deepEqual((await read(ws, `/conversations/${id}`)).labels, ['retired']);
  assert.equal((await patch(id, { labels: ['retired', 'x'] })).status, 200);
  const other = await makeConversation(ws);
  assertError(await patch(other.id, { labels: ['retired'] }), 422, 'labels');
});

const refused: [body: object, status: number, field: string][] = [
  [{ assignee_id: toId('agent', uuid) }, 422, 'assignee_id'],
  [{ assignee_id: 'nonsense' }, 422, 'assignee_id'],
  [{ assignee_id: '' }, 422, 'assignee_id'],
  [{ assignee_id: 7 }, 400, 'assignee_id'],
  [{ team_id: toId('team', uuid) }, 422, 'team_id'],
  [{ team_id: 'nonsense' }, 422, 'team_id'],
  [{ team_id: [support.id] }, 400, 'team_id'],
  [{ labels: 'vip' }, 400, 'labels'],
  [{ labels: null }, 400, 'labels'],
  [{ labels: ['vip', 7] }, 400, 'labels.1'],
  [{ labels: [' '] }, 422, 'labels.0'],
  [{ labels: ['x'.repeat(256)] }, 422, 'labels.0'],
  [{ status: 'done' }, 400, 'status'],
];

for (const [body, status, field] of refused) {
  test(`PATCH with ${JSON.stringify(body).slice(0, 40)} answers ${status} and changes nothing`, async () => {
    const before = await makeConversation(ws);
    const events = await eventsDuring(service, ws, async () => {
      assertError(await patch(before.id, { labels: ['other'], ...body }), status, field);
    });
    assert.deepEqual(events, []);
    assert.deepEqual(await read(ws, `/conversations/${before.id}`), before);
    assert.deepEqual(await messagesOf(ws, before.id), []);
  });
}

test('an archived agent or team is refused with 422', async () => {
  const [agent, team] = [await makeAgent(ws), await makeTeam(ws)];
  await ws.request('DELETE', `/agents/${agent.id}`);
  await ws.request('DELETE', `/teams/${team.id}`);
  const { id } = await makeConversation(ws);
  assertError(await patch(id, { assignee_id: agent.id }), 422, 'assignee_id');
  assertError(await patch(id, { team_id: team.id }), 422, 'team_id');
});

test('PATCH with an empty object answers 200 and changes nothing', async () => {
  const before = await makeConversation(ws);
  const events = await eventsDuring(service, ws, async () => {
    assert.deepEqual(await patchConversation(ws, before.id, {}), before);
  });
  assert.deepEqual(events, []);
});

test('PATCH that repeats assignee, team and labels raises nothing, adds nothing, leaves updated_at', async () => {
  const { id } = await makeConversation(ws);
  const same = { assignee_id: grace.id, team_id: support.id, labels: ['a', 'b'] };
  const before = await patchConversation(ws, id, same);
  const messages = await messagesOf(ws, id);
  const events = await eventsDuring(service, ws, async () => {
    assert.deepEqual(await patchConversation(ws, id, same), before);
    assert.deepEqual(await patchConversation(ws, id, { labels: ['b', ' a'] }), before);
  });
  assert.deepEqual(events, []);
  assert.deepEqual(await messagesOf(ws, id), messages);
});

test('each change of status, assignee, team or labels adds one activity message', async () => {
  const { id } = await makeConversation(ws);
  await patchConversation(ws, id, { status: 'pending' });
  assert.equal((await activitiesOf(ws, id)).length, 1);
  await patchConversation(ws, id, { assignee_id: lin.id, team_id: support.id, labels: ['a'] });
  const contents = (await activitiesOf(ws, id)).map(({ content }) => content);
  assert.equal(contents.length, 4);
  for (const word of ['pending', 'Lin', 'Support', 'a']) {
    assert.ok(contents.some((content) => content.includes(word)));
  }
});

test('updated_at moves with status, assignee, team, labels and a message', async () => {
  const { id, updated_at } = await makeConversation(ws);
  let last = updated_at;
  const moves = [{ status: 'pending' }, { assignee_id: lin.id }, { team_id: support.id }, { labels: ['x'] }];
  for (const move of moves) {
    const after = await patchConversation(ws, id, move);
    assert.ok(after.updated_at > last, JSON.stringify(move));
    last = after.updated_at;
  }
  const message = await sendMessage(ws, id, { content: 'Hello' });
  const after = await read(ws, `/conversations/${id}`);
  assert.ok(after.updated_at > last);
  assert.equal(after.updated_at, message.created_at);
});

test('updated_at never goes backwards under parallel changes and messages', async () => {
  const { id } = await makeConversation(ws);
  await inParallel(Array.from({ length: 40 }), 20, (_, n) =>
    n % 2 === 0
      ? sendMessage(ws, id, { content: `message ${n}` })
      : patchConversation(ws, id, { labels: [`label ${n}`] }),
  );
  const messages = await messagesOf(ws, id);
  const times = messages.map(({ created_at }): string => created_at);
  assert.deepEqual(times, times.toSorted());
  assert.equal((await read(ws, `/conversations/${id}`)).updated_at, times.at(-1));
  assert.equal(messages.length, 40);
});

test('updated_at does not go backwards when the database clock does', async () => {
  const before = await makeConversation(ws);
  const future = '2098-01-01T00:00:00.000Z';
  await service.sql(`update conversations set updated_at = $2 where workspace_id = $1 and created_at = $3`, [
    ws.uuid,
    future,
    before.created_at,
  ]);
  const after = await patchConversation(ws, before.id, { status: 'pending' });
  assert.ok(after.updated_at >= future);
});

test('PATCH of a conversation that is not there answers 404', async () => {
  assertError(await patch(toId('conversation', uuid), { status: 'open' }), 404);
});
