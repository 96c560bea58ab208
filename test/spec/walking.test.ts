import assert from 'node:assert/strict';
import test from 'node:test';
import { rollUpDays } from '../../server/conversations/days.ts';
import { fromId } from '../../server/ids.ts';
import {
  assertError,
  type Data,
  inParallel,
  makeChannel,
  makeContact,
  makeConversation,
  patchConversation,
  sendMessage,
} from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const contact = await makeContact(ws, { tags: ['walked'] });
const channel = await makeChannel(ws);
const base = { contact_id: contact.id, channel_id: channel.id };
const thread = await makeConversation(ws, base);
await inParallel(Array.from({ length: 29 }), 8, (_, n) =>
  makeContact(ws, { name: `n${n}`, phone: `+4915112340${String(n).padStart(2, '0')}`, tags: ['walked'] }),
);
await inParallel(Array.from({ length: 29 }), 8, () => makeConversation(ws, base));
await inParallel(Array.from({ length: 30 }), 8, (_, n) => sendMessage(ws, thread.id, { content: `m${n}` }));

const lists = [
  '/conversations?',
  '/conversations?status=open&',
  `/conversations?channel_id=${channel.id}&assignee_id=unassigned&`,
  `/conversations?contact_id=${contact.id}&`,
  '/contacts?',
  '/contacts?tag=walked&',
  '/contacts?q=n&',
  '/contacts?q=5112340&',
  `/conversations/${thread.id}/messages?`,
  `/conversations/${thread.id}/messages?order=desc&`,
];

async function walk(path: string, perPage: number): Promise<string[]> {
  const seen: string[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < 100; page++) {
    const next: string = cursor === null ? '' : `&cursor=${cursor}`;
    const { status, body } = await ws.request('GET', `${path}per_page=${perPage}${next}`);
    assert.equal(status, 200);
    seen.push(...body.data.map(({ id }: Data) => id));
    cursor = body.meta.next_cursor;
    if (cursor === null) return seen;
  }
  throw new Error('the walk does not end');
}

for (const path of lists) {
  const name = path.replace(/_[0-9a-z]{26}/g, '_…').slice(0, -1);
  test(`GET ${name}: following next_cursor shows each result once, in the order of the pages`, async () => {
    const { body } = await ws.request('GET', `${path}per_page=100`);
    const whole = body.data.map(({ id }: Data) => id);
    assert.ok(whole.length >= 29);
    assert.equal(body.meta.next_cursor, null);
    for (const size of [7, 10, 30]) assert.deepEqual(await walk(path, size), whole);
  });
}

test('a walk through messages, newest first, is not moved by those that come meanwhile', async () => {
  const { id } = await makeConversation(ws, base);
  for (let n = 0; n < 6; n++) await sendMessage(ws, id, { content: `m${n}` });
  const path = `/conversations/${id}/messages?order=desc&per_page=3`;
  const { body } = await ws.request('GET', path);
  await sendMessage(ws, id, { content: 'late' });
  const next = await ws.request('GET', `${path}&cursor=${body.meta.next_cursor}`);
  const contents = [...body.data, ...next.body.data].map(({ content }: Data) => content);
  assert.deepEqual(contents, ['m5', 'm4', 'm3', 'm2', 'm1', 'm0']);
});

test('the total and the filters are those of the whole list on every step', async () => {
  const { body } = await ws.request('GET', '/contacts?tag=walked&per_page=10');
  const next = await ws.request('GET', `/contacts?tag=walked&per_page=10&cursor=${body.meta.next_cursor}`);
  assert.equal(next.body.meta.total, 30);
  assert.match(next.headers.get('link') ?? '', /cursor=[\w-]+>; rel="next"/);
});

test('a cursor that no list gave, one of another list, and a cursor beside a page answer 400', async () => {
  const { body } = await ws.request('GET', `/conversations/${thread.id}/messages?per_page=2`);
  const ofMessages = body.meta.next_cursor;
  const bad = [
    '',
    'x',
    '!',
    'a'.repeat(255),
    'AAAA',
    Buffer.from('now ct').toString('base64url'),
    ofMessages,
  ];
  for (const cursor of bad) {
    assertError(await ws.request('GET', `/contacts?cursor=${encodeURIComponent(cursor)}`), 400, 'cursor');
    assertError(
      await ws.request('GET', `/conversations?cursor=${encodeURIComponent(cursor)}`),
      400,
      'cursor',
    );
  }
  const { next_cursor } = (await ws.request('GET', '/contacts?per_page=2')).body.meta;
  const path = `/conversations/${thread.id}/messages?cursor=`;
  assertError(await ws.request('GET', `${path}${next_cursor}`), 400, 'cursor');
  assertError(await ws.request('GET', `/contacts?cursor=${next_cursor}&page=1`), 400, 'cursor');
});

test('deep pages are the ones that reading past every row would give, through any change of day and status', async () => {
  const deep = await service.workspace();
  const { id: contactId } = await makeContact(deep);
  const { id: channelId } = await makeChannel(deep);
  const first = await makeConversation(deep, { contact_id: contactId, channel_id: channelId });
  // 5,000 conversations over 50 days, written as a bulk import would.
  await service.sql(
    `insert into conversations (workspace_id, id, channel_id, contact_id, status, created_at, updated_at)
     select workspace_id, gen_random_uuid(), channel_id, contact_id,
       (array['open', 'pending', 'resolved', 'snoozed'])[1 + n % 4], now() - interval '60 days',
       now() - n * interval '14.4 min'
     from conversations, generate_series(1, 5000) n where workspace_id = $1`,
    [deep.uuid],
  );
  const pages = async (query: string, status?: string) => {
    const rows = await service.sql<{ id: string }>(
      `select id from conversations where workspace_id = $1 and ($2::text is null or status = $2)
       order by updated_at desc, id desc`,
      [deep.uuid, status],
    );
    for (const page of [1, 81, 100, 150, 201, 250]) {
      const { body } = await deep.request('GET', `/conversations?${query}page=${page}`);
      const expected = rows.slice((page - 1) * 25, page * 25).length;
      assert.equal(body.data.length, expected, `page ${page}`);
      const times = body.data.map(({ updated_at }: Data) => updated_at);
      const [row] = await service.sql<{ times: string[] }>(
        `select coalesce(array_agg(to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
           order by updated_at desc, id desc), '{}') as times
         from (select updated_at, id from conversations where workspace_id = $1 and ($2::text is null or status = $2)
               order by updated_at desc, id desc limit 25 offset $3) page`,
        [deep.uuid, status, (page - 1) * 25],
      );
      assert.deepEqual(times, row!.times, `page ${page}`);
    }
  };
  await pages('');
  await pages('status=pending&', 'pending');
  await service.sql(
    `update conversations set status = 'pending', updated_at = updated_at - interval '3 days'
     where workspace_id = $1 and id <> $2 and extract(minute from updated_at) < 20`,
    [deep.uuid, fromId('conversation', first.id)],
  );
  await patchConversation(deep, first.id, { status: 'resolved' });
  await service.sql(
    `delete from conversations where workspace_id = $1 and status = 'snoozed' and extract(minute from updated_at) > 40`,
    [deep.uuid],
  );
  await pages('');
  await pages('status=pending&', 'pending');
  await rollUpDays(service.ctx.db);
  await pages('');
  await pages('status=resolved&', 'resolved');
});
