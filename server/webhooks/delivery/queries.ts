import { type Db, statement, type Tx } from '../../db/client.ts';
import { claims } from '../../queue/claims.ts';
import type { Lane } from '../../queue/worker.ts';

/** A webhook that has anything waiting. */
export interface WaitingLane extends Lane {
  deleted: boolean;
}

/** One index probe for each webhook that has anything waiting, however much that is. */
const dueLanes = statement<WaitingLane>(
  'deliveries.due_lanes',
  `with recursive lane as (
     (select workspace_id, webhook_id, next_at from delivery_queue order by webhook_id, next_at limit 1)
     union all
     select following.* from lane, lateral (
       select workspace_id, webhook_id, next_at from delivery_queue
       where webhook_id > lane.webhook_id order by webhook_id, next_at limit 1) following)
   select lane.workspace_id, lane.webhook_id as lane, w.deleted,
     (extract(epoch from lane.next_at - clock_timestamp()) * 1000)::float8 as due_in_ms
   from lane join webhooks w on w.workspace_id = lane.workspace_id and w.id = lane.webhook_id`,
);

/** In a transaction, for its session: see `claim`. */
export function listLanes(db: Db): Promise<WaitingLane[]> {
  return db.transaction((tx) => tx.query(dueLanes, []));
}

const lockShared = statement<{ locked: unknown }>(
  'deliveries.lock_webhook_shared',
  `select pg_advisory_xact_lock_shared(hashtextextended('webhook ' || $1, 0)) as locked`,
);

export interface ClaimedRow {
  workspace_id: string;
  id: string;
  /** The webhook. */
  lane: string;
  event_id: string;
  event_type: string;
  attempts: number;
  /** Since the event. */
  age_seconds: number;
  body: string;
  url: string;
  sealed_secret: Buffer;
  sealed_previous_secret: Buffer | null;
}

/**
 * A queue is often empty, and a plan made then is kept when it is full. So what claims and records reaches a row in ways
 * that are right at any size: by its key inside `lateral (… offset 0)`, which no planner turns round, and then by its place
 * (`ctid`). Joined by key, a claim came to read the whole queue, and one of messages the whole queue for each row: 75 s
 * with 20,000 waiting. A place holds because nobody else changes a row that is locked or under a lease.
 */
const claim = claims<ClaimedRow>(
  'deliveries.claim',
  (count) => `
  with hook as materialized (
    select url, sealed_secret, case when previous_secret_until > now() then sealed_previous_secret end as previous
    from webhooks where workspace_id = $1 and id = $2 and not deleted),
  picked as materialized (
    select ctid as place from delivery_queue
    where webhook_id = $2 and next_at <= now() and (leased_until is null or leased_until <= now())
      and exists (select from hook)
    order by webhook_id, next_at limit ${count} for update skip locked),
  claimed as (
    update delivery_queue set claim_id = $3, leased_until = clock_timestamp() + $4 * interval '1 s'
    where ctid = any (array(select place from picked))
    returning workspace_id, id, webhook_id as lane, event_id, event_type, attempts,
      extract(epoch from clock_timestamp() - created_at)::float8 as age_seconds)
  select claimed.*, event.body, hook.url, hook.sealed_secret, hook.previous as sealed_previous_secret
  from claimed, hook, lateral (
    select body from events e where e.workspace_id = claimed.workspace_id and e.id = claimed.event_id offset 0) event`,
);

/**
 * Takes up to `count` due deliveries of one webhook. The webhook stays locked against deletion until this transaction
 * ends, so what is started inside it has started before a DELETE can commit.
 */
export async function claimDeliveries(
  tx: Tx,
  workspaceId: string,
  webhookId: string,
  claimId: string,
  count: number,
  leaseSeconds: number,
): Promise<ClaimedRow[]> {
  const [, rows] = await Promise.all([
    tx.query(lockShared, [webhookId]),
    tx.query(claim(count), [workspaceId, webhookId, claimId, leaseSeconds]),
  ]);
  return rows;
}

/** What became of one attempt. `retryInSeconds` null: it was the last. */
export interface Completion {
  workspaceId: string;
  id: string;
  claimId: string;
  delivered: boolean;
  retryInSeconds: number | null;
  durationMs: number;
  status: number | null;
  error: string | null;
  response: string | null;
}

/**
 * Every write is fenced by the claim: a worker that woke up after its lease was given away changes nothing. The time of
 * an attempt is the database's now less its duration. The last attempt lies in the delivery's own row, the ones before
 * it in theirs: so a delivery that succeeds at once is written once.
 */
const complete = statement<{ id: string }>(
  'deliveries.complete',
  `with done as materialized (
     select d.*, q.place
     from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bool[], $5::float8[], $6::int[], $7::int[], $8::text[],
       $9::text[]) as d (workspace_id, id, claim_id, delivered, retry_in, duration_ms, status, error, response),
     lateral (select ctid as place from delivery_queue where workspace_id = d.workspace_id and id = d.id offset 0) q),
   again as (
     update delivery_queue q set attempts = q.attempts + 1, claim_id = null, leased_until = null,
       next_at = clock_timestamp() + d.retry_in * interval '1 s'
     from done d
     where q.ctid = d.place and q.claim_id = d.claim_id and d.retry_in is not null
     returning q.workspace_id, q.id, q.attempts, d.duration_ms, d.status, d.error, d.response),
   gone as (
     delete from delivery_queue q using done d
     where q.ctid = d.place and q.claim_id = d.claim_id and d.retry_in is null
     returning q.workspace_id, q.id, q.webhook_id, q.event_id, q.event_type, q.attempts + 1 as attempts, q.created_at,
       q.redelivery_of, d.delivered, d.duration_ms, d.status, d.error, d.response),
   finished as (
     insert into deliveries (workspace_id, id, webhook_id, event_id, event_type, state, attempts, created_at,
       redelivery_of, attempted_at, duration_ms, status, error, response)
     select workspace_id, id, webhook_id, event_id, event_type, case when delivered then 'delivered' else 'failed' end,
       attempts, created_at, redelivery_of, clock_timestamp() - duration_ms * interval '1 ms', duration_ms, status,
       error, response
     from gone),
   recorded as (
     insert into delivery_attempts (workspace_id, delivery_id, n, at, duration_ms, status, error, response)
     select workspace_id, id, attempts, clock_timestamp() - duration_ms * interval '1 ms', duration_ms, status, error,
       response
     from again)
   select id from again union all select id from gone`,
);

/** Returns how many were still ours to complete. */
export async function completeDeliveries(tx: Tx, completions: Completion[]): Promise<number> {
  const rows = await tx.query(complete, [
    completions.map((c) => c.workspaceId),
    completions.map((c) => c.id),
    completions.map((c) => c.claimId),
    completions.map((c) => c.delivered),
    completions.map((c) => c.retryInSeconds),
    completions.map((c) => c.durationMs),
    completions.map((c) => c.status),
    completions.map((c) => c.error),
    completions.map((c) => c.response),
  ]);
  return rows.length;
}

const setFailing = statement<never>(
  'webhooks.set_failing',
  `update webhooks w set failing_since = case when t.failing then clock_timestamp() end
   from unnest($1::uuid[], $2::uuid[], $3::bool[]) as t (workspace_id, id, failing)
   where w.workspace_id = t.workspace_id and w.id = t.id and (w.failing_since is not null) <> t.failing`,
);

/** Touches only webhooks whose fortune changed. */
export function updateFailing(
  tx: Tx,
  webhooks: { workspaceId: string; webhookId: string; failing: boolean }[],
): void {
  tx.send(setFailing, [
    webhooks.map((w) => w.workspaceId),
    webhooks.map((w) => w.webhookId),
    webhooks.map((w) => w.failing),
  ]);
}

const cancelSome = statement<{ id: string }>(
  'deliveries.cancel_some',
  `with picked as materialized (
     select ctid as place from delivery_queue
     where workspace_id = $1 and webhook_id = $2 and (leased_until is null or leased_until <= now())
     order by webhook_id, next_at limit 1000 for update skip locked),
   gone as (
     delete from delivery_queue where ctid = any (array(select place from picked)) returning *)
   insert into deliveries (workspace_id, id, webhook_id, event_id, event_type, state, attempts, created_at, redelivery_of)
   select workspace_id, id, webhook_id, event_id, event_type, 'cancelled', attempts, created_at, redelivery_of from gone
   returning id`,
);

/** A deleted webhook's waiting deliveries, a thousand at a time. Returns how many. */
export async function cancelDeliveries(tx: Tx, workspaceId: string, webhookId: string): Promise<number> {
  const rows = await tx.query(cancelSome, [workspaceId, webhookId]);
  return rows.length;
}
