import assert from 'node:assert/strict';
import test from 'node:test';
import { startService } from '../../test/harness.ts';
import { keepPartitions, retentionDays } from './partitions.ts';

const service = await startService();
const parents = ['events', 'deliveries', 'delivery_attempts'];

const partitions = async (parent: string): Promise<string[]> =>
  (
    await service.sql<{ name: string }>(
      `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = $1::regclass and c.relname ~ '_[0-9]{8}$' order by 1`,
      [parent],
    )
  ).map(({ name }) => name);

const dayName = (parent: string, daysFromNow: number): string =>
  `${parent}_${new Date(Date.now() + daysFromNow * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')}`;

const dropAll = async () => {
  for (const parent of parents) {
    for (const name of await partitions(parent)) await service.sql(`drop table ${name}`);
  }
};

const inDefault = async () => (await service.sql('select from events_default')).length;

test('partitions are made ahead of time, one a day, and making them again changes nothing', async () => {
  await keepPartitions(service.ctx);
  for (const parent of parents) {
    const names = await partitions(parent);
    for (const days of [0, 1, 2, 3])
      assert.ok(names.includes(dayName(parent, days)), `${parent} in ${days} days`);
  }
  const before = await partitions('events');
  await keepPartitions(service.ctx);
  assert.deepEqual(await partitions('events'), before);
});

test('after a month off nothing is refused, and what came first moves to its day', async () => {
  const workspace = await service.workspace();
  await dropAll();
  assert.equal((await workspace.request('POST', '/contacts', { name: 'Ada' })).status, 201);
  assert.equal(await inDefault(), 1);
  await keepPartitions(service.ctx);
  assert.equal(await inDefault(), 0);
  const rows = await service.sql(`select from ${dayName('events', 0)} where workspace_id = $1`, [
    workspace.uuid,
  ]);
  assert.equal(rows.length, 1);
});

test('a day past its retention is dropped whole, and never while an event of it is still queued', async () => {
  const workspace = await service.workspace();
  await keepPartitions(service.ctx);
  const [kept, gone] = [retentionDays, retentionDays + 2];
  for (const parent of parents) {
    for (const days of [kept, gone]) {
      await service.sql(`select add_day_partition($1, (now() at time zone 'UTC')::date - $2::int)`, [
        parent,
        days,
      ]);
    }
  }
  const old = `first_uuid_of(now() - interval '${gone} days')`;
  await service.sql(`insert into events select $1, ${old}, 'contact.created', '{}', now()`, [workspace.uuid]);
  await service.sql(
    `insert into webhooks (workspace_id, id, url, events, sealed_secret) values ($1, gen_random_uuid(), 'https://x.test', '{}', '')`,
    [workspace.uuid],
  );
  await service.sql(
    `insert into delivery_queue (workspace_id, id, webhook_id, event_id, event_type, next_at, created_at)
     select $1, gen_random_uuid(), id, ${old}, 'contact.created', now() + interval '1 day', now()
     from webhooks where workspace_id = $1`,
    [workspace.uuid],
  );
  await keepPartitions(service.ctx);
  assert.ok((await partitions('events')).includes(dayName('events', -gone)), 'still needed');
  assert.ok((await partitions('events')).includes(dayName('events', -kept)), 'not old enough');
  assert.ok(!(await partitions('deliveries')).includes(dayName('deliveries', -gone)));
  await service.sql('delete from delivery_queue');
  await keepPartitions(service.ctx);
  assert.ok(!(await partitions('events')).includes(dayName('events', -gone)));
});

test('several processes may keep the partitions at once', async () => {
  await dropAll();
  await Promise.all(Array.from({ length: 5 }, () => keepPartitions(service.ctx)));
  assert.ok((await partitions('events')).includes(dayName('events', 1)));
});
