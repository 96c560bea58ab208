import type { Context } from '../context.ts';
import { type Db, statement } from '../db/client.ts';

/** Events, ended deliveries and their attempts lie in one partition a day, made ahead and dropped when they are old. */
export const retentionDays = 30;
const daysAhead = 3;

const addPartitions = statement<{ made: number }>(
  'partitions.add',
  `select count(*) filter (where add_day_partition(parent, (now() at time zone 'UTC')::date + days)) as made
   from unnest(array['events', 'deliveries', 'delivery_attempts']) parent, generate_series(-1, ${daysAhead}) days`,
);

const lockPartitions = statement<{ locked: boolean }>(
  'partitions.lock',
  `select pg_try_advisory_xact_lock(4716230013) as locked`,
);

/** Days wholly past their retention, and of events only those that nothing in the queue still needs. */
const oldPartitions = statement<{ parent: string; part: string }>(
  'partitions.old',
  `select parent.relname as parent, part.relname as part
   from pg_inherits i
   join pg_class parent on parent.oid = i.inhparent
   join pg_class part on part.oid = i.inhrelid
   where parent.relname in ('events', 'deliveries', 'delivery_attempts') and part.relname ~ '_[0-9]{8}$'
     and to_date(right(part.relname, 8), 'YYYYMMDD') < (now() at time zone 'UTC')::date - $1::int
     and not (parent.relname = 'events' and exists (
       select from delivery_queue q
       where q.event_id >= first_uuid_of(to_date(right(part.relname, 8), 'YYYYMMDD')::timestamp at time zone 'UTC')
         and q.event_id < first_uuid_of((to_date(right(part.relname, 8), 'YYYYMMDD') + 1)::timestamp at time zone 'UTC')))
   order by part.relname`,
);

/** Safe to run in any process at any time; one at a time does the work. */
export async function keepPartitions({ db }: Pick<Context, 'db'>): Promise<void> {
  await db.transaction(async (tx) => {
    const [lock] = await tx.query(lockPartitions, []);
    if (lock?.locked) await tx.query(addPartitions, []);
  });
  await dropOldPartitions(db);
}

/** Waits a moment at most: a drop needs the parent for itself, and whoever comes meanwhile queues behind it. */
const dontWait = statement<never>('partitions.dont_wait', `select set_config('lock_timeout', '250ms', true)`);

async function dropOldPartitions(db: Db): Promise<void> {
  for (const { part } of await db.alone.query(oldPartitions, [retentionDays])) {
    await db.transaction(async (tx) => {
      tx.send(dontWait, []);
      await tx.queryText(`drop table if exists ${part}`, []);
    });
  }
}
