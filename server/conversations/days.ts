import { type Db, type Reader, statement } from '../db/client.ts';
import type { Status } from './schema.ts';

const skip = statement<{ before: string; offset: number }>(
  'conversation_days.skip',
  `with days as (
     select day, sum(n) as n from (
       select day, n from conversation_days where workspace_id = $1 and status = any ($2)
       union all
       select day, n from conversation_day_deltas where workspace_id = $1 and status = any ($2)) counted
     group by day),
   ranked as (select day, n, sum(n) over (order by day desc) - n as newer from days)
   select (day + 1)::timestamp at time zone 'UTC' as before, ($3 - newer)::bigint as offset
   from ranked where newer <= $3 and $3 < newer + n`,
);

/**
 * Where a deep page begins: so many conversations after the newest one updated before a moment. The kept numbers of each
 * day are added up; what remains to be read is at most the conversations of one day. undefined: past the end.
 */
export async function skipDays(
  db: Reader,
  workspaceId: string,
  statuses: readonly Status[],
  offset: number,
): Promise<{ before: string; offset: number } | undefined> {
  const [row] = await db.query(skip, [workspaceId, statuses, offset]);
  return row;
}

const workspacesWithDeltas = statement<{ workspace_id: string }>(
  'conversation_days.workspaces_with_deltas',
  `select distinct workspace_id from conversation_day_deltas`,
);

const lockRollUp = statement<{ locked: boolean }>(
  'conversation_days.lock_roll_up',
  `select pg_try_advisory_xact_lock(hashtextextended('roll up days ' || $1, 0)) as locked`,
);

const rollUp = statement<never>(
  'conversation_days.roll_up',
  `with taken as (delete from conversation_day_deltas where workspace_id = $1 returning status, day, n),
   folded as (
     insert into conversation_days as d (workspace_id, status, day, n)
     select $1, status, day, sum(n) from taken group by status, day having sum(n) <> 0
     on conflict (workspace_id, status, day) do update set n = d.n + excluded.n)
   delete from conversation_days where workspace_id = $1 and n = 0`,
);

/** Folds the deltas into the days. Without it pages stay right and only get slower to read. */
export async function rollUpDays(db: Db): Promise<void> {
  for (const { workspace_id } of await db.alone.query(workspacesWithDeltas, [])) {
    await db.transaction(async (tx) => {
      const [lock] = await tx.query(lockRollUp, [workspace_id]);
      if (lock?.locked) tx.send(rollUp, [workspace_id]);
    });
  }
}
