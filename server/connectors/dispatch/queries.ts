import type { PlainSettings } from '../../channels/settings.ts';
import type { ChannelType } from '../../channels/types.ts';
import type { Attachment } from '../../conversations/messages/schema.ts';
import { type Db, statement, type Tx } from '../../db/client.ts';
import { claims } from '../../queue/claims.ts';
import type { Lane } from '../../queue/worker.ts';

/** Longer than an attempt may take, so that nobody sends what is still being sent. */
export const leaseSeconds = 60;

/** One index probe for each channel that has anything waiting, however much that is. */
const dueLanes = statement<Lane>(
  'outgoing.due_lanes',
  `with recursive lane as (
     (select workspace_id, channel_id, next_at from outgoing_queue order by channel_id, next_at limit 1)
     union all
     select following.* from lane, lateral (
       select workspace_id, channel_id, next_at from outgoing_queue
       where channel_id > lane.channel_id order by channel_id, next_at limit 1) following)
   select workspace_id, channel_id as lane,
     (extract(epoch from next_at - clock_timestamp()) * 1000)::float8 as due_in_ms
   from lane`,
);

export function listLanes(db: Db): Promise<Lane[]> {
  return db.transaction((tx) => tx.query(dueLanes, []));
}

export interface ClaimedMessage {
  workspace_id: string;
  id: string;
  /** The channel. */
  lane: string;
  attempts: number;
  conversation_id: string;
  content: string;
  attachments: Attachment[];
  template_variables: Record<string, unknown> | null;
  template_name: string | null;
  template_language: string | null;
  template_body: string | null;
  sender_type: 'agent' | 'bot';
  sender_id: string | null;
  sender_name: string;
  created_at: string;
  contact_id: string;
  contact_name: string;
  contact_phone: string | null;
  contact_email: string | null;
  identity: string | null;
  channel_type: ChannelType;
  settings: PlainSettings;
  sealed_settings: Buffer | null;
}

/**
 * Of each conversation only the first that waits: the next is claimed when that one has left, so the order is kept.
 * Rows of the queue are reached as in webhooks/delivery/queries.ts.
 */
const claim = claims<ClaimedMessage>(
  'outgoing.claim',
  (count) => `
  with picked as materialized (
    select ctid as place from outgoing_queue q
    where channel_id = $1 and next_at <= now() and (leased_until is null or leased_until <= now())
      and not exists (select from outgoing_queue before
        where before.conversation_id = q.conversation_id and before.seq < q.seq offset 0)
    order by channel_id, next_at limit ${count} for update skip locked),
  claimed as (
    update outgoing_queue set claim_id = $2, leased_until = clock_timestamp() + interval '${leaseSeconds} s'
    where ctid = any (array(select place from picked))
    returning workspace_id, id, channel_id, attempts, conversation_id)
  select claimed.workspace_id, claimed.id, claimed.channel_id as lane, claimed.attempts, claimed.conversation_id,
    m.content, m.attachments, m.template_variables, m.sender_type, m.sender_id, m.created_at,
    t.name as template_name, t.language as template_language, t.body as template_body,
    coalesce(a.name, k.name, 'System') as sender_name,
    c.contact_id, ct.name as contact_name, ct.phone as contact_phone, ct.email as contact_email,
    coalesce(c.customer_external_id, (
      select substr(identity, length('external_id ') + 1) from contact_identities i
      where i.workspace_id = c.workspace_id and i.contact_id = c.contact_id and i.channel_id = claimed.channel_id
        and i.identity like 'external\\_id %' order by identity limit 1)) as identity,
    ch.type as channel_type, ch.settings, ch.sealed_settings
  from claimed
  join messages m on m.workspace_id = claimed.workspace_id and m.id = claimed.id
  join conversations c on c.workspace_id = claimed.workspace_id and c.id = claimed.conversation_id
  join contacts ct on ct.workspace_id = c.workspace_id and ct.id = c.contact_id
  join channels ch on ch.workspace_id = claimed.workspace_id and ch.id = claimed.channel_id
  left join templates t on t.workspace_id = m.workspace_id and t.id = m.template_id
  left join agents a on m.sender_type = 'agent' and a.workspace_id = m.workspace_id and a.id = m.sender_id
  left join api_keys k on m.sender_type = 'bot' and k.workspace_id = m.workspace_id and k.id = m.sender_id`,
);

export function claimMessages(
  tx: Tx,
  channelId: string,
  claimId: string,
  count: number,
): Promise<ClaimedMessage[]> {
  return tx.query(claim(count), [channelId, claimId]);
}

/** What became of one attempt: it left, it failed for good, or (`retryInSeconds`) it is tried again. */
export interface Completion {
  workspaceId: string;
  channelId: string;
  id: string;
  claimId: string;
  retryInSeconds: number | null;
  /** Why it failed; null: it was sent. */
  error: string | null;
  externalId: string | null;
}

/**
 * Every write is fenced by the claim. A status that the platform reported meanwhile is further than `sent` and stays.
 * What waits behind a message that must wait, waits with it: else each claim would look at all of it again.
 */
const complete = statement<{ id: string }>(
  'outgoing.complete',
  `with done as materialized (
     select d.*, q.place
     from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::float8[], $6::text[], $7::text[])
       as d (workspace_id, channel_id, id, claim_id, retry_in, error, external_id),
     lateral (select ctid as place from outgoing_queue where workspace_id = d.workspace_id and id = d.id offset 0) q),
   again as (
     update outgoing_queue q set attempts = q.attempts + 1, claim_id = null, leased_until = null,
       next_at = clock_timestamp() + d.retry_in * interval '1 s'
     from done d
     where q.ctid = d.place and q.claim_id = d.claim_id and d.retry_in is not null
     returning q.workspace_id, q.id, q.conversation_id, q.seq, q.next_at),
   behind as (
     update outgoing_queue q set next_at = again.next_at
     from again, lateral (
       select ctid as place from outgoing_queue
       where conversation_id = again.conversation_id and seq > again.seq offset 0) later
     where q.ctid = later.place and q.leased_until is null),
   gone as (
     delete from outgoing_queue q using done d
     where q.ctid = d.place and q.claim_id = d.claim_id and d.retry_in is null
     returning q.workspace_id, q.channel_id, q.id, q.conversation_id, d.error, d.external_id),
   marked as (
     update messages m set status = case when gone.error is null then 'sent' else 'failed' end, error = gone.error
     from gone where m.workspace_id = gone.workspace_id and m.id = gone.id and m.status = 'queued'),
   named as (
     insert into message_external_ids (workspace_id, channel_id, outgoing, external_id, conversation_id, message_id)
     select workspace_id, channel_id, true, external_id, conversation_id, id from gone where external_id is not null
     on conflict do nothing)
   select id from again union all select id from gone`,
);

/** Returns how many were still ours to complete. */
export async function completeMessages(tx: Tx, completions: Completion[]): Promise<number> {
  const rows = await tx.query(complete, [
    completions.map((c) => c.workspaceId),
    completions.map((c) => c.channelId),
    completions.map((c) => c.id),
    completions.map((c) => c.claimId),
    completions.map((c) => c.retryInSeconds),
    completions.map((c) => c.error),
    completions.map((c) => c.externalId),
  ]);
  return rows.length;
}
