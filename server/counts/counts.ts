import { type Db, type Reader, statement } from '../db/client.ts';

const total = statement<{ n: number }>(
  'counts.total',
  `select (coalesce((select n from counts where workspace_id = $1 and scope = $2), 0)
         + coalesce((select sum(n) from count_deltas where workspace_id = $1 and scope = $2), 0))::bigint as n`,
);

/** An exact total kept by the database's own triggers (see migration 0001): two index look-ups at any table size. */
export async function countOf(db: Reader, workspaceId: string, scope: string): Promise<number> {
  const [row] = await db.query(total, [workspaceId, scope]);
  return row?.n ?? 0;
}

const workspacesWithDeltas = statement<{ workspace_id: string }>(
  'counts.workspaces_with_deltas',
  `with recursive found as (
     (select workspace_id from count_deltas order by workspace_id limit 1)
     union all
     select (select workspace_id from count_deltas d where d.workspace_id > found.workspace_id
             order by workspace_id limit 1)
     from found where found.workspace_id is not null)
   select workspace_id from found where workspace_id is not null`,
);

const lockRollUp = statement<{ locked: boolean }>(
  'counts.lock_roll_up',
  `select pg_try_advisory_xact_lock(hashtextextended('roll up ' || $1, 0)) as locked`,
);

const rollUp = statement<never>(
  'counts.roll_up',
  `with taken as (delete from count_deltas where workspace_id = $1 returning scope, n)
   insert into counts as c (workspace_id, scope, n)
   select $1, scope, sum(n) from taken group by scope
   on conflict (workspace_id, scope) do update set n = c.n + excluded.n`,
);

/** Folds the deltas into the counts. Without it totals stay right and only get slower to read. */
export async function rollUpCounts(db: Db): Promise<void> {
  for (const { workspace_id } of await db.alone.query(workspacesWithDeltas, [])) {
    await db.transaction(async (tx) => {
      const [lock] = await tx.query(lockRollUp, [workspace_id]);
      if (lock?.locked) tx.send(rollUp, [workspace_id]);
    });
  }
}
