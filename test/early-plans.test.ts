import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import '../server/process/serve.ts';
import { planSettings, statements } from '../server/db/client.ts';
import { newUuid } from '../server/ids.ts';
import { atEnd, createDatabase } from './harness.ts';

/**
 * A session keeps the plan of a prepared statement until its tables are analysed again. Here what works on a queue is
 * planned while that is empty, as after a quiet night, and then 20,000 rows come at once.
 */
const many = 20_000;
const workspace = '00000000-0000-7000-8000-000000000001';
const channel = '00000000-0000-7000-8000-000000000101';
const contact = '00000000-0000-7000-8000-000000000401';
const webhook = '00000000-0000-7000-8000-000000000501';
const claim = '00000000-0000-7000-8000-000000000601';
const conversation = (i: number): string => `00000000-0000-7000-a000-${String(i).padStart(12, '0')}`;
const delivery = (i: number): string => `00000000-0000-7000-c000-${String(i).padStart(12, '0')}`;

/** Of two rows, where it takes several. */
const uses: Record<string, string[]> = {
  'deliveries.due_lanes': [],
  'outgoing.due_lanes': [],
  'deliveries.claim.1': [workspace, webhook, claim, '30'],
  'outgoing.claim.1': [channel, claim],
  'outgoing.complete': [
    `{${workspace},${workspace}}`,
    `{${channel},${channel}}`,
    `{${conversation(7)},${conversation(8)}}`,
    `{${claim},${claim}}`,
    '{null,5}',
    '{null,timeout}',
    '{one,null}',
  ],
  'statuses.apply': [workspace, channel, 'one', conversation(7), 'delivered', ''],
  'deliveries.complete': [
    `{${workspace},${workspace}}`,
    `{${delivery(7)},${delivery(8)}}`,
    `{${claim},${claim}}`,
    '{t,f}',
    '{null,5}',
    '{1,1}',
    '{200,500}',
    '{null,status}',
    '{null,null}',
  ],
};

const client = new pg.Client({ connectionString: await createDatabase(), options: planSettings });
await client.connect();
atEnd(() => client.end());

await client.query(`insert into workspaces (id, name, plan) values ('${workspace}', 'Plans', 'business')`);
await client.query(`insert into channels (workspace_id, id, type, name)
  values ('${workspace}', '${channel}', 'api', 'Channel')`);
await client.query(`insert into contacts (workspace_id, id, name, search)
  values ('${workspace}', '${contact}', 'Person', 'person')`);
await client.query(`insert into conversations (workspace_id, id, channel_id, contact_id)
  select '${workspace}', ('00000000-0000-7000-a000-' || lpad(i::text, 12, '0'))::uuid, '${channel}', '${contact}'
  from generate_series(1, ${many}) i`);
await client.query(`insert into messages (workspace_id, id, conversation_id, seq, type, content, sender_type, created_at)
  select workspace_id, id, id, 1, 'outgoing', 'Hello', 'bot', now() from conversations`);
await client.query(`insert into webhooks (workspace_id, id, url, events, sealed_secret)
  values ('${workspace}', '${webhook}', 'https://example.com/', '{message.created}', '')`);

await client.query('vacuum analyze');
for (const name of Object.keys(uses)) {
  await client.query(`prepare "${name}" as ${statements.find((each) => each.name === name)!.text}`);
  await use(name);
}

await client.query(
  `insert into events (workspace_id, id, type, body, created_at)
   select '${workspace}', id, 'message.created', '{}', now() from unnest($1::uuid[]) id`,
  [Array.from({ length: many }, newUuid)],
);
await client.query(`insert into delivery_queue
    (workspace_id, id, webhook_id, event_id, event_type, next_at, created_at, claim_id)
  select workspace_id, ('00000000-0000-7000-c000-' || lpad(i::text, 12, '0'))::uuid, '${webhook}', id, type,
    now() - i * interval '1 ms', now(), '${claim}'
  from (select *, row_number() over () as i from events) event`);
await client.query(`insert into outgoing_queue
    (workspace_id, id, channel_id, conversation_id, seq, next_at, claim_id)
  select workspace_id, id, '${channel}', id, 1, now() - row_number() over () * interval '1 ms', '${claim}'
  from conversations`);

interface Plan {
  'Actual Rows': number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

async function use(name: string): Promise<Plan> {
  const values = uses[name]!.map((value) => `'${value}'`).join(', ');
  const list = values && `(${values})`;
  await client.query('begin');
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (analyze, buffers, timing off, format json) execute "${name}" ${list}`,
  );
  await client.query('rollback');
  return rows[0]!['QUERY PLAN'][0].Plan;
}

for (const name of Object.keys(uses)) {
  test(`${name}, planned while the queue was empty, reads a few pages when it is full`, async () => {
    const plan = await use(name);
    const pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    assert.ok(plan['Actual Rows'] > 0);
    assert.ok(pages < 150, `${pages} pages`);
  });
}
