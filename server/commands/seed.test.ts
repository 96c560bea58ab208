import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cliFile, cliOn, onDatabase } from '../../test/cli.ts';
import { startService } from '../../test/harness.ts';
import { searchTextOf } from '../contacts/search.ts';
import { rollUpCounts } from '../counts/counts.ts';
import { E164 } from '../rules.ts';

const service = await startService();
const workspace = await service.workspace();
const cli = cliOn(service.databaseUrl);
const wanted = '--contacts 400 --conversations 300 --messages 2500 --long-conversation 21000';
const seeded = await cli('seed', '--workspace', workspace.id, ...wanted.split(' '), '--json');
const { json } = seeded;
const one = async <Row>(text: string): Promise<Row> => (await service.sql<Row>(text, [workspace.uuid]))[0]!;

test('seed makes exactly what was asked for and says how fast', async () => {
  assert.equal(seeded.code, 0, seeded.stderr);
  const { long_conversation_id, seconds, rows_per_second, ...made } = json;
  assert.deepEqual(made, { workspace_id: workspace.id, contacts: 400, conversations: 301, messages: 23_500 });
  assert.match(long_conversation_id, /^conv_/);
  assert.ok(seconds > 0 && rows_per_second > 0);
  const rows = await one(`select (select count(*) from contacts where workspace_id = $1) as contacts,
    (select count(*) from conversations where workspace_id = $1) as conversations,
    (select count(*) from messages where workspace_id = $1) as messages`);
  assert.deepEqual(rows, { contacts: 400, conversations: 301, messages: 23_500 });
});

test('messages are numbered from 1 without a gap, ascend in time, and begin and end with their conversation', async () => {
  const wrong = await service.sql(
    `select c.id from conversations c left join lateral (
       select count(*) as n, min(seq) as first, max(seq) as last, min(created_at) as since, max(created_at) as until,
              max(created_at) filter (where type = 'incoming') as incoming,
              bool_and(later) as ascending
       from (select *, coalesce(created_at > lag(created_at) over (order by seq), true) as later from messages
             where workspace_id = c.workspace_id and conversation_id = c.id) m) m on true
     where c.workspace_id = $1 and (c.last_seq <> m.n or c.last_incoming_at is distinct from m.incoming
       or (m.n > 0 and (m.first <> 1 or m.last <> m.n or not m.ascending
                        or m.since <> c.created_at or m.until <> c.updated_at)))`,
    [workspace.uuid],
  );
  assert.deepEqual(wrong, []);
});

test('totals equal what counting gives, for every combination of filters', async () => {
  await rollUpCounts(service.ctx.db);
  const wrong = await service.sql(
    `with counted as (
       select scope, count(*) as n from conversations c,
         conversation_scopes(c.status, c.channel_id, c.assignee_id, c.team_id, c.label_ids) scope
       where c.workspace_id = $1 group by scope
       union all select 'contacts', count(*) from contacts where workspace_id = $1
       union all select 'contacts tag=' || tag, count(*) from contact_tags where workspace_id = $1 group by tag),
     kept as (select scope, n from counts where workspace_id = $1 and n <> 0)
     (select * from counted except select * from kept) union all (select * from kept except select * from counted)`,
    [workspace.uuid],
  );
  assert.deepEqual(wrong, []);
});

test('the search text of every contact is what the service itself would write', async () => {
  const contacts = await service.sql<{
    name: string;
    email: string | null;
    phone: string | null;
    search: string;
  }>(`select name, email, phone, search from contacts where workspace_id = $1`, [workspace.uuid]);
  for (const contact of contacts) assert.equal(contact.search, searchTextOf(contact));
  assert.ok(
    contacts.some(({ name }) => /\p{Script=Han}/u.test(name)),
    'names in other scripts',
  );
  assert.ok(new Set(contacts.map(({ name }) => name)).size > 200, 'many different names');
  const phones = contacts.flatMap(({ phone }) => (phone === null ? [] : [phone]));
  assert.ok(phones.every((phone) => new RegExp(E164).test(phone)));
  assert.equal(new Set(phones).size, phones.length);
});

test('tags and labels agree with the arrays they are turned round from', async () => {
  const wrong = await service.sql(
    `(select id, unnest(tags) as x from contacts where workspace_id = $1
      except select contact_id, tag from contact_tags where workspace_id = $1)
     union all
     (select id, unnest(label_ids)::text from conversations where workspace_id = $1
      except select conversation_id, label_id::text from conversation_labels where workspace_id = $1)`,
    [workspace.uuid],
  );
  assert.deepEqual(wrong, []);
  const counts = await one<Record<string, number>>(
    `select (select sum(cardinality(tags)) from contacts where workspace_id = $1) as tags,
            (select count(*) from contact_tags where workspace_id = $1) as contact_tags,
            (select sum(cardinality(label_ids)) from conversations where workspace_id = $1) as labels,
            (select count(*) from conversation_labels where workspace_id = $1) as conversation_labels`,
  );
  assert.equal(counts['tags'], counts['contact_tags']);
  assert.equal(counts['labels'], counts['conversation_labels']);
  assert.ok(counts['tags']! > 0 && counts['labels']! > 0);
});

test('conversations are spread over statuses, channels, agents, nobody and the past year', async () => {
  const spread = await one<Record<string, number>>(
    `select count(distinct status) as statuses, count(distinct channel_id) as channels,
       count(distinct assignee_id) as agents, count(*) filter (where assignee_id is null) as unassigned,
       count(distinct date_trunc('month', updated_at)) as months,
       count(*) filter (where updated_at > clock_timestamp()
         or updated_at < clock_timestamp() - interval '366 days') as outside
     from conversations where workspace_id = $1`,
  );
  assert.equal(spread['statuses'], 4);
  assert.equal(spread['channels'], 3);
  assert.equal(spread['agents'], 6);
  assert.ok(spread['unassigned']! > 30);
  assert.ok(spread['months']! >= 12);
  assert.equal(spread['outside'], 0);
});

test('nothing seeded raises an event, is waiting to be sent or will wake up soon', async () => {
  const { events, queued, waking } = await one<Record<string, number>>(
    `select (select count(*) from events where workspace_id = $1) as events,
       (select count(*) from messages where workspace_id = $1 and status = 'queued') as queued,
       (select count(*) from conversations
        where workspace_id = $1 and snoozed_until < clock_timestamp() + interval '20 days') as waking`,
  );
  assert.deepEqual({ events, queued, waking }, { events: 0, queued: 0, waking: 0 });
});

test('ids carry the time of their row', async () => {
  for (const table of ['contacts', 'conversations', 'messages']) {
    const { wrong } = await one<{ wrong: number }>(
      `select count(*) as wrong from ${table} where workspace_id = $1
         and left(replace(id::text, '-', ''), 12) <> lpad(to_hex((extract(epoch from created_at) * 1000)::bigint), 12, '0')`,
    );
    assert.equal(wrong, 0, table);
  }
});

test('the interface shows seeded data like any other', async () => {
  const conversations = await workspace.request('GET', '/conversations?status=resolved&per_page=5');
  assert.equal(conversations.status, 200);
  assert.equal(conversations.body.data.length, 5);
  const messages = await workspace.request(
    'GET',
    `/conversations/${json.long_conversation_id}/messages?order=desc`,
  );
  assert.equal(messages.body.meta.total, 21_000);
  const contacts = await workspace.request('GET', '/contacts?q=m%C3%BCller');
  assert.ok(contacts.body.meta.total > 0);
});

test('the same seed makes the same people and texts; another run in the same workspace makes others', async () => {
  const people = async (uuid: string) =>
    service.sql(
      `select name, phone, email, tags, company from contacts where workspace_id = $1 order by created_at, id`,
      [uuid],
    );
  const small = ['--contacts', '30', '--conversations', '10', '--messages', '50'];
  const [a, b, c] = [await service.workspace(), await service.workspace(), await service.workspace()];
  await cli('seed', '--workspace', a.id, ...small);
  await cli('seed', '--workspace', b.id, ...small);
  await cli('seed', '--workspace', c.id, ...small, '--seed', '2');
  assert.deepEqual(await people(a.uuid), await people(b.uuid));
  assert.notDeepEqual(await people(a.uuid), await people(c.uuid));
  await cli('seed', '--workspace', b.id, ...small);
  const twice = await people(b.uuid);
  assert.equal(twice.length, 60);
  assert.equal(new Set(twice.map(({ email, phone }) => `${String(email)} ${String(phone)}`)).size, 60);
});

test('messages without conversations, and conversations without any contact, are exit 2', async () => {
  const { id } = await service.workspace();
  const messages = await cli('seed', '--workspace', id, '--conversations', '0', '--messages', '5', '--json');
  assert.deepEqual({ code: messages.code, stdout: messages.stdout }, { code: 2, stdout: '' });
  const contacts = await cli('seed', '--workspace', id, '--contacts', '0', '--json');
  assert.deepEqual({ code: contacts.code, stdout: contacts.stdout }, { code: 2, stdout: '' });
  assert.match(contacts.stderr, /--contacts/);
  const number = await cli('seed', '--workspace', id, '--contacts', 'many', '--json');
  assert.equal(number.code, 2);
});

test('with --contacts 0 conversations are with the contacts there are', async () => {
  const { id, uuid, request } = await service.workspace();
  await request('POST', '/contacts', { name: 'Mia' });
  const { code } = await cli(
    'seed',
    '--workspace',
    id,
    '--contacts',
    '0',
    '--conversations',
    '5',
    '--messages',
    '20',
  );
  assert.equal(code, 0);
  const rows = await service.sql(`select distinct contact_id from conversations where workspace_id = $1`, [
    uuid,
  ]);
  assert.equal(rows.length, 1);
});

test('interrupted, it says how far it came, and whatever is there is whole', async () => {
  const { id, uuid } = await service.workspace();
  const args = [
    'seed',
    '--workspace',
    id,
    '--contacts',
    '2000',
    '--conversations',
    '200000',
    '--messages',
    '400000',
  ];
  const child = spawn(process.execPath, [cliFile, ...args], {
    env: { PATH: process.env['PATH'], ...onDatabase(service.databaseUrl) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const written = async () =>
    (
      await service.sql<{ n: number }>(`select count(*) as n from conversations where workspace_id = $1`, [
        uuid,
      ])
    )[0]!.n;
  while ((await written()) === 0) {
    assert.equal(child.exitCode, null, stderr);
    await sleep(50);
  }
  child.kill('SIGINT');
  const [code] = (await once(child, 'exit')) as [number];
  assert.equal(code, 1);
  assert.match(stderr, /inbox: interrupted: [\d,]+ of 602,000 rows are there, whole and counted\n$/);
  const [state] = await service.sql<{
    conversations: number;
    messages: number;
    numbered: number;
    kept: number;
  }>(
    `select count(*) as conversations, sum(last_seq)::bigint as numbered,
       (select count(*) from messages where workspace_id = $1) as messages,
       (select n from counts where workspace_id = $1 and scope = 'conversations') as kept
     from conversations where workspace_id = $1`,
    [uuid],
  );
  assert.ok(state!.conversations < 200_000);
  assert.equal(state!.messages, state!.numbered);
  assert.equal(state!.kept, state!.conversations);
});
