import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import '../server/process/serve.ts';
import { digitsOf } from '../server/contacts/search.ts';
import { searchQueries } from '../server/contacts/queries.ts';
import { planSettings, statements } from '../server/db/client.ts';
import { atEnd, createDatabase } from './harness.ts';

/**
 * What each read of a request, and of what runs by itself, touches, in 8 KiB pages, on a small workspace and on one 12
 * times as large. Time would depend on the machine; pages do not. One more level of an index costs a page a row more, a
 * scan costs the table.
 */
const small = 2_000;
const large = 24_000;

const workspace = '00000000-0000-7000-8000-000000000001';
const channel = '00000000-0000-7000-8000-000000000101';
const agent = '00000000-0000-7000-8000-000000000201';
const none = '00000000-0000-0000-0000-000000000000';
const oneKey = '00000000-0000-7000-8000-000000000301';
const oneContact = '00000000-0000-7000-9000-000000000007';
const oneMessage = '00000000-0000-7000-b000-000000000007';
const oneConversation = '00000000-0000-7000-a000-000000000007';

const url = await createDatabase();
const client = new pg.Client({ connectionString: url, options: planSettings });
await client.connect();
atEnd(() => client.end());
const searching = new pg.Client({ connectionString: url });
await searching.connect();
atEnd(() => searching.end());

await client.query(`insert into workspaces (id, name, plan) values ('${workspace}', 'Plans', 'business')`);
await client.query(`insert into channels (workspace_id, id, type, name)
  select '${workspace}', ('00000000-0000-7000-8000-0000000001' || lpad(i::text, 2, '0'))::uuid, 'api', 'Channel'
  from generate_series(1, 3) i`);
await client.query(`insert into agents (workspace_id, id, name, role)
  select '${workspace}', ('00000000-0000-7000-8000-0000000002' || lpad(i::text, 2, '0'))::uuid, 'Agent', 'agent'
  from generate_series(1, 4) i`);
await client.query(`insert into api_keys (workspace_id, id, name, hash, scopes)
  values ('${workspace}', '${oneKey}', 'Key', '', '{}')`);
for (const { name, text } of statements) await client.query(`prepare "${name}" as ${text}`);

const reads: Record<string, unknown[]> = {
  'webchat.find_channel': [channel],
  'webchat.find_contact': [workspace, channel, 'external_id visitor:7'],
  'webchat.history': [workspace, channel, oneContact, '00000000-0000-7000-b000-000000001000'],
  'webchat.news': [workspace, channel, oneContact, `{${oneConversation}}`, '{1000}'],
  'conversations.find': [workspace, oneConversation],
  'conversations.find_many': [`{${workspace}}`, `{${oneConversation}}`],
  'conversations.lock_free': [`{${workspace}}`, `{${oneConversation}}`],
  'contacts.find': [workspace, oneContact],
  'contacts.newest.25': [workspace],
  'contacts.with_tag.25': [workspace, 'tag 3'],
  'messages.page_ascending': [workspace, oneConversation, 0, 50],
  'messages.page_descending': [workspace, oneConversation, 500, 50],
  'counts.total': [workspace, 'conversations status=open'],
  'conversations.list.any.after.25': [workspace, '2026-01-01T00:00:00.000Z', oneConversation],
  'contacts.newest.after.25': [workspace, '2026-01-01T00:00:00.000Z', oneContact],
  'inbound.find_by_phone_or_email': [workspace, '+4915100000042', 'person42@example.com'],
  'conversations.lock_newest': [workspace, oneContact, channel],
  'statuses.apply': [workspace, channel, 'unheard of', oneMessage, 'delivered', ''],
  'conversations.find_due': [],
  'idempotency.forget': [],
};
for (const status of ['any', 'open', 'pending', 'resolved', 'snoozed']) {
  reads[`conversations.list.${status}.25`] = [workspace];
  reads[`conversations.list.${status}.channel.25`] = [workspace, channel];
  reads[`conversations.list.${status}.assignee.25`] = [workspace, status === 'open' ? none : agent];
  reads[`conversations.list.${status}.channel.assignee.25`] = [
    workspace,
    channel,
    status === 'open' ? agent : none,
  ];
}
/** The same few people are found among all the others. */
const searches = ['rareperson', 'rareperson@', '+4999', '(999) 777', 'nobody at all'];

async function grow(from: number, to: number): Promise<void> {
  await client.query(`insert into contacts (workspace_id, id, name, phone, email, tags, search, created_at)
    select '${workspace}', ('00000000-0000-7000-9000-' || lpad(i::text, 12, '0'))::uuid, name, phone, email,
      array['tag ' || i % 20], lower(name) || E'\\x1f' || email || E'\\x1f' || phone, now() - i * interval '1 s'
    from (select i, case when i < 5 then 'Rareperson ' else 'Person ' end || md5(i::text) as name,
            case when i < 5 then '+49997770000' else '+4915100000' end || lpad(i::text, 3, '0') as phone,
            case when i < 5 then 'rareperson' else 'person' end || i || '@example.com' as email
          from generate_series(${from}, ${to - 1}) i) person`);
  const { rows } = await client.query<{ id: string; search: string }>(
    `select id, search from contacts where digits = '{}'`,
  );
  await client.query(
    `update contacts c set digits = d.digits::int[] from unnest($1::uuid[], $2::text[]) d (id, digits) where c.id = d.id`,
    [rows.map(({ id }) => id), rows.map(({ search }) => `{${digitsOf(workspace, search).join(',')}}`)],
  );
  await client.query(`insert into contact_tags (workspace_id, tag, contact_created_at, contact_id)
    select workspace_id, tags[1], created_at, id from contacts on conflict do nothing`);
  await client.query(`insert into conversations
      (workspace_id, id, channel_id, contact_id, assignee_id, status, snoozed_until, created_at, updated_at, last_seq)
    select '${workspace}', ('00000000-0000-7000-a000-' || lpad(i::text, 12, '0'))::uuid,
      ('00000000-0000-7000-8000-00000000010' || 1 + i / 11 % 3)::uuid,
      ('00000000-0000-7000-9000-' || lpad(i::text, 12, '0'))::uuid,
      case when i % 3 > 0 then ('00000000-0000-7000-8000-0000000002' || lpad((1 + i / 5 % 4)::text, 2, '0'))::uuid end,
      (array['open', 'pending', 'resolved', 'snoozed'])[1 + i / 7 % 4],
      case when i / 7 % 4 = 3 then now() + i * interval '1 h' end, now(), now() - i * interval '1 s',
      case when i = 7 then ${to} else 0 end
    from generate_series(${from}, ${to - 1}) i`);
  await client.query(`insert into messages
      (workspace_id, id, conversation_id, seq, type, content, sender_type, created_at)
    select '${workspace}', ('00000000-0000-7000-b000-' || lpad(i::text, 12, '0'))::uuid, '${oneConversation}', i,
      'outgoing', 'Hello', 'bot', now()
    from generate_series(${from + 1}, ${to}) i`);
  await client.query(`insert into idempotency_keys (workspace_id, api_key_id, key, fingerprint, status, sealed_answer)
    select '${workspace}', '${oneKey}', i::text, '', 201, '' from generate_series(${from}, ${to - 1}) i`);
  await client.query(`update conversations set last_seq = ${to} where id = '${oneConversation}'`);
  await client.query(`with taken as (delete from count_deltas returning workspace_id, scope, n)
    insert into counts as c select workspace_id, scope, sum(n) from taken group by 1, 2
    on conflict (workspace_id, scope) do update set n = c.n + excluded.n`);
  await client.query('vacuum analyze');
}

interface Plan {
  'Plan Rows': number;
  'Node Type': string;
  'Relation Name'?: string;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: Plan[];
}

async function planOf(session: pg.Client, sql: string): Promise<Plan> {
  await session.query('begin');
  const { rows } = await session.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (analyze, buffers, timing off, format json) ${sql}`,
  );
  await session.query('rollback');
  return rows[0]!['QUERY PLAN'][0].Plan;
}

const pagesOf = (plan: Plan): number => (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);

function scansOf(plan: Plan): string[] {
  const big = ['conversations', 'contacts', 'messages', 'contact_tags', 'idempotency_keys'];
  const here = plan['Node Type'] === 'Seq Scan' && big.includes(plan['Relation Name'] ?? '');
  return [...(here ? [plan['Relation Name']!] : []), ...(plan.Plans ?? []).flatMap(scansOf)];
}

const literal = (value: unknown): string =>
  pg.escapeLiteral(Array.isArray(value) ? `{${value.join(',')}}` : String(value));
const quote = (value: unknown): string => (typeof value === 'number' ? String(value) : `'${String(value)}'`);

async function measure(): Promise<Map<string, Plan>> {
  const plans = new Map<string, Plan>();
  for (const [name, values] of Object.entries(reads)) {
    const list = values.length > 0 ? `(${values.map(quote).join(', ')})` : '';
    plans.set(name, await planOf(client, `execute "${name}" ${list}`));
  }
  for (const term of searches) {
    const { rowsText, countText, values } = searchQueries(workspace, term, undefined, {
      page: 1,
      perPage: 25,
      offset: 0,
    });
    const inline = (text: string) =>
      text.replace(/\$(\d+)/g, (_, n: string) => literal(values[Number(n) - 1]));
    plans.set(`search ${term}`, await planOf(searching, inline(rowsText)));
    plans.set(`count ${term}`, await planOf(searching, inline(countText)));
  }
  return plans;
}

/** How many rows a plan for any values expects from each table. Nothing is run. */
async function expectedOf(text: string): Promise<number[]> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (generic_plan, format json) ${text}`,
  );
  const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];
  const readers = nodes(rows[0]!['QUERY PLAN'][0].Plan).filter((node) => node['Relation Name'] !== undefined);
  return readers.map((node) => node['Plan Rows']);
}

await grow(0, small);
const before = await measure();
await grow(small, large);
const after = await measure();
const wide: string[] = [];
for (const { name, text } of statements) {
  const expected = await expectedOf(text);
  if (expected.some((rows) => rows > large / 8)) wide.push(name);
}
const [{ pages: tablePages }] = (
  await client.query(`select relpages as pages from pg_class where relname = 'contacts'`)
).rows as [{ pages: number }];

for (const name of Object.keys(reads)) {
  test(`${name} costs the same at ${large} rows as at ${small}`, () => {
    const [few, many] = [pagesOf(before.get(name)!), pagesOf(after.get(name)!)];
    assert.deepEqual(scansOf(after.get(name)!), []);
    assert.ok(many <= 1.5 * few + 8, `${few} pages became ${many}`);
  });
}

test('no other statement expects much from a large table', () => {
  assert.deepEqual(
    wide.filter((name) => !(name in reads)),
    [],
  );
});

for (const term of searches) {
  test(`a search for "${term}" is index work`, () => {
    for (const plan of [after.get(`search ${term}`)!, after.get(`count ${term}`)!]) {
      assert.deepEqual(scansOf(plan), []);
      assert.ok(pagesOf(plan) < tablePages / 8, `${pagesOf(plan)} of ${tablePages} pages`);
    }
  });
}
