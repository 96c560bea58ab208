import assert from 'node:assert/strict';
import test from 'node:test';
import { toId } from '../../server/ids.ts';
import {
  assertError,
  type Data,
  makeAgent,
  makeChannel,
  makeContact,
  makeConversation,
  makeTeam,
  patchConversation,
  read,
  sendMessage,
} from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const [ada, bob] = [await makeContact(ws, { name: 'Ada' }), await makeContact(ws, { name: 'Bob' })];
const [shop, phone] = [await makeChannel(ws, { name: 'Shop' }), await makeChannel(ws, { name: 'Phone' })];
const [grace, lin] = [await makeAgent(ws, { name: 'Grace' }), await makeAgent(ws, { name: 'Lin' })];
const team = await makeTeam(ws);
const statuses = ['open', 'pending', 'resolved', 'snoozed'];

/** One conversation in every status, on each channel, with each agent and with none. */
const all: Data[] = [];
for (const status of statuses) {
  for (const channel of [shop, phone]) {
    for (const assignee of [grace, lin, null]) {
      const { id } = await makeConversation(ws, {
        contact_id: channel === shop ? ada.id : bob.id,
        channel_id: channel.id,
        ...(assignee && { assignee_id: assignee.id }),
      });
      all.push(
        await patchConversation(ws, id, {
          status,
          ...(assignee === grace && { team_id: team.id }),
          ...(assignee === null && { labels: ['lonely', status] }),
        }),
      );
    }
  }
}
const newestFirst = all.toReversed();

const ids = (conversations: Data[]): string[] => conversations.map(({ id }) => id);
const nobody = toId('agent', '01999999-9999-7999-8999-999999999999');

async function lists(query: string, expected: Data[]) {
  const { status, body } = await ws.request('GET', `/conversations?per_page=100&${query}`);
  assert.equal(status, 200);
  assert.deepEqual(ids(body.data), ids(expected));
  assert.equal(body.meta.total, expected.length);
}

test('GET /conversations without a status returns all statuses, newest update first', () =>
  lists('', newestFirst));

for (const status of statuses) {
  test(`GET /conversations with status=${status} returns only those`, () =>
    lists(
      `status=${status}`,
      newestFirst.filter((one) => one.status === status),
    ));
}

for (const status of ['closed', 'OPEN', '', 'open,pending']) {
  test(`GET /conversations with status=${status} answers 400`, async () => {
    assertError(await ws.request('GET', `/conversations?status=${status}`), 400, 'status');
  });
}

test('GET /conversations with channel_id returns only conversations of that channel', () =>
  lists(
    `channel_id=${shop.id}`,
    newestFirst.filter(({ channel }) => channel.id === shop.id),
  ));

test('GET /conversations with assignee_id returns only conversations of that agent', () =>
  lists(
    `assignee_id=${grace.id}`,
    newestFirst.filter(({ assignee }) => assignee?.id === grace.id),
  ));

test('GET /conversations with assignee_id=unassigned returns only conversations with no assignee', () =>
  lists(
    'assignee_id=unassigned',
    newestFirst.filter(({ assignee }) => assignee === null),
  ));

test('the filters of the spec combine', () =>
  lists(
    `status=pending&channel_id=${phone.id}&assignee_id=${lin.id}`,
    newestFirst.filter(
      ({ status, channel, assignee }) =>
        status === 'pending' && channel.id === phone.id && assignee?.id === lin.id,
    ),
  ));

test('GET /conversations with contact_id returns only conversations of that contact', () =>
  lists(
    `contact_id=${ada.id}`,
    newestFirst.filter(({ contact }) => contact.id === ada.id),
  ));

test('GET /conversations with team_id returns only conversations of that team', () =>
  lists(
    `team_id=${team.id}`,
    newestFirst.filter((one) => one.team?.id === team.id),
  ));

test('GET /conversations with label returns only conversations with that label', () =>
  lists(
    'label=lonely',
    newestFirst.filter(({ labels }) => labels.includes('lonely')),
  ));

test('GET /conversations with updated_since returns those updated at that time or later', () => {
  const since = all[10]!.updated_at;
  return lists(
    `updated_since=${since}`,
    newestFirst.filter(({ updated_at }) => updated_at >= since),
  );
});

test('the added filters combine with those of the spec', () =>
  lists(
    `label=lonely&status=open&channel_id=${shop.id}&contact_id=${ada.id}&assignee_id=unassigned`,
    newestFirst.filter(
      ({ labels, status, channel }) =>
        labels.includes('lonely') && status === 'open' && channel.id === shop.id,
    ),
  ));

test('an updated_since that is no timestamp answers 422', async () => {
  assertError(await ws.request('GET', '/conversations?updated_since=yesterday'), 422, 'updated_since');
});

for (const filter of ['channel_id', 'assignee_id', 'contact_id', 'team_id']) {
  for (const [kind, value] of [
    ['malformed', 'nonsense'],
    ['empty', ''],
    ['missing', nobody],
  ]) {
    test(`a ${kind} id in the filter ${filter} answers an empty list`, () => lists(`${filter}=${value}`, []));
  }
}

for (const label of ['nothing', '']) {
  test(`a label nobody uses ("${label}") answers an empty list`, () => lists(`label=${label}`, []));
}

test('a new message moves its conversation to the top', async () => {
  const other = await service.workspace();
  const first = await makeConversation(other);
  const second = await makeConversation(other);
  assert.deepEqual(ids(await read(other, '/conversations')), [second.id, first.id]);
  await sendMessage(other, first.id, { content: 'Hello' });
  assert.deepEqual(ids(await read(other, '/conversations')), [first.id, second.id]);
});

test('ties of updated_at are broken by id: every page walk shows each conversation once', async () => {
  const other = await service.workspace();
  const contact = await makeContact(other);
  const channel = await makeChannel(other);
  const made: string[] = [];
  for (let n = 0; n < 7; n++) {
    made.push((await makeConversation(other, { contact_id: contact.id, channel_id: channel.id })).id);
  }
  await service.sql(`update conversations set updated_at = '2026-01-01' where workspace_id = $1`, [
    other.uuid,
  ]);
  await service.sql(`update conversations set status = 'pending' where workspace_id = $1 and id::text > $2`, [
    other.uuid,
    'f',
  ]);
  const seen: string[] = [];
  for (const page of [1, 2, 3, 4]) {
    seen.push(...ids(await read(other, `/conversations?per_page=2&page=${page}`)));
  }
  assert.deepEqual(seen.toSorted(), made.toSorted());
  const inOrder = seen.toSorted();
  assert.ok([inOrder, inOrder.toReversed()].some((order) => order.join() === seen.join()));
});

test('a renamed contact, channel and agent show their new names in the list', async () => {
  const other = await service.workspace();
  const contact = await makeContact(other, { name: 'Old', phone: '+4915100000001' });
  const channel = await makeChannel(other, { name: 'Old' });
  const agent = await makeAgent(other, { name: 'Old' });
  await makeConversation(other, { contact_id: contact.id, channel_id: channel.id, assignee_id: agent.id });
  await other.request('PUT', `/contacts/${contact.id}`, { name: 'New', phone: '+4915100000002' });
  await other.request('PATCH', `/channels/${channel.id}`, { name: 'New' });
  await other.request('PATCH', `/agents/${agent.id}`, { name: 'New' });
  const [listed] = await read(other, '/conversations');
  assert.deepEqual(listed.contact, { id: contact.id, name: 'New', phone: '+4915100000002' });
  assert.equal(listed.channel.name, 'New');
  assert.equal(listed.assignee.name, 'New');
});
