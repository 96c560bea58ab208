import { type Db, type Reader, statement, type Tx } from '../../db/client.ts';
import { limitOf } from '../../db/paged.ts';
import type { EventType } from '../../events/names.ts';
import { newUuid } from '../../ids.ts';
import type { Listing, Page } from '../../page.ts';
import type { Attempt, State } from './schema.ts';

export interface DeliveryRow {
  id: string;
  webhook_id: string;
  event_id: string;
  event_type: EventType;
  state: State;
  attempts: number;
  next_at: string | null;
  created_at: string;
  redelivery_of: string | null;
}

const shared = 'id, webhook_id, event_id, event_type, attempts, created_at, redelivery_of';
/** One that is under way comes again when its lease runs out, should its worker die. */
const waiting = `select ${shared}, 'pending' as state, greatest(next_at, leased_until) as next_at from delivery_queue`;
const ended = `select ${shared}, state, null::timestamptz as next_at from deliveries`;

/** What waits and what ended, newest event first. Planned for the filters it comes with. */
export async function listDeliveries(
  db: Db,
  workspaceId: string,
  webhookId: string,
  { state, event }: { state?: State; event?: EventType },
  page: Page,
): Promise<Listing<DeliveryRow>> {
  const values: unknown[] = [workspaceId, webhookId];
  let where = 'where workspace_id = $1 and webhook_id = $2';
  if (event !== undefined) where += ` and event_type = $${values.push(event)}`;
  const parts: string[] = [];
  if (state === undefined || state === 'pending') parts.push(`${waiting} ${where}`);
  if (state === undefined) parts.push(`${ended} ${where}`);
  else if (state !== 'pending') parts.push(`${ended} ${where} and state = $${values.push(state)}`);
  const all = parts.join(' union all ');
  const [rows, [counted]] = await Promise.all([
    db.alone.queryText<DeliveryRow>(`${all} order by id desc ${limitOf(page)}`, values),
    db.alone.queryText<{ n: number }>(`select count(*) as n from (${all}) found`, values),
  ]);
  return { rows, total: counted?.n ?? 0 };
}

/** Every attempt but the last lies in a row of its own, the last in that of the delivery. */
const attemptsMade = `
  select n, at, duration_ms, status, error, response from delivery_attempts
  where workspace_id = $1 and delivery_id = $2
  union all
  select attempts, attempted_at, duration_ms, status, error, response from deliveries
  where workspace_id = $1 and id = $2 and attempted_at is not null`;

/** The delivery and its attempts in one snapshot: read one after the other, one could have ended in between. */
const find = statement<DeliveryRow & { body: string | null; made: Attempt[] }>(
  'deliveries.find',
  `select d.*, e.body, (
     select coalesce(jsonb_agg(jsonb_build_object('n', n,
       'at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'duration_ms', duration_ms,
       'status', status, 'error', error, 'response', response) order by n), '[]')
     from (${attemptsMade}) attempt) as made
   from (
     ${waiting} where workspace_id = $1 and id = $2 union all ${ended} where workspace_id = $1 and id = $2) d
   left join events e on e.workspace_id = $1 and e.id = d.event_id`,
);

export async function findDelivery(db: Reader, workspaceId: string, id: string) {
  const [row] = await db.query(find, [workspaceId, id]);
  return row;
}

const enqueue = statement<DeliveryRow>(
  'deliveries.enqueue',
  `insert into delivery_queue (workspace_id, id, webhook_id, event_id, event_type, next_at, created_at, redelivery_of)
   values ($1, $2, $3, $4, $5, clock_timestamp(), clock_timestamp(), $6)
   returning ${shared}, 'pending' as state, next_at`,
);

/** A delivery of its own for an event that exists; sent at once. */
export async function insertDelivery(
  tx: Tx,
  workspaceId: string,
  values: { webhookId: string; eventId: string; eventType: EventType; redeliveryOf: string | null },
): Promise<DeliveryRow> {
  const { webhookId, eventId, eventType, redeliveryOf } = values;
  const [row] = await tx.query(enqueue, [
    workspaceId,
    newUuid(),
    webhookId,
    eventId,
    eventType,
    redeliveryOf,
  ]);
  tx.announce('deliveries');
  return row!;
}

const lockRecovery = statement<never>(
  'deliveries.lock_recovery',
  `select pg_advisory_xact_lock(hashtextextended('recover ' || $1, 0))`,
);

/** Failed, its event still kept, and not yet given another chance. `$5`: the longest from an event to its failure. */
const findFailed = statement<{ id: string; event_id: string; event_type: EventType }>(
  'deliveries.find_failed',
  `select d.id, d.event_id, d.event_type from deliveries d
   join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
   where d.workspace_id = $1 and d.webhook_id = $2 and d.state = 'failed'
     and d.attempted_at + d.duration_ms * interval '1 ms' >= $3
     and d.id >= first_uuid_of($3::timestamptz - $5::float8 * interval '1 s')
     and not exists (select from deliveries r where r.workspace_id = $1 and r.redelivery_of = d.id)
     and not exists (select from delivery_queue q where q.webhook_id = $2 and q.redelivery_of = d.id)
   order by d.id limit $4::int`,
);

const enqueueMany = statement<{ id: string }>(
  'deliveries.enqueue_many',
  `insert into delivery_queue (workspace_id, id, webhook_id, event_id, event_type, next_at, created_at, redelivery_of)
   select $1, id, $2, event_id, event_type, clock_timestamp(), clock_timestamp(), redelivery_of
   from unnest($3::uuid[], $4::uuid[], $5::text[], $6::uuid[]) as t (id, event_id, event_type, redelivery_of)
   returning id`,
);

/** Opens a new delivery for each one that failed since a moment, at most `limit`. Returns how many. */
export async function recoverFailed(
  tx: Tx,
  workspaceId: string,
  webhookId: string,
  { since, limit, failsWithinSeconds }: { since: string; limit: number; failsWithinSeconds: number },
): Promise<number> {
  tx.send(lockRecovery, [webhookId]); // two calls at once must not both find the same
  const failed = await tx.query(findFailed, [workspaceId, webhookId, since, limit, failsWithinSeconds]);
  const rows = await tx.query(enqueueMany, [
    workspaceId,
    webhookId,
    failed.map(() => newUuid()),
    failed.map((row) => row.event_id),
    failed.map((row) => row.event_type),
    failed.map((row) => row.id),
  ]);
  tx.announce('deliveries');
  return rows.length;
}
