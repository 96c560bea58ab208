import type { StatusReport } from '../connector.ts';
import { type Reader, statement, type Tx } from '../../db/client.ts';

/** How far a message has come. Reports come in any order and more than once: the furthest stays. */
const progress = `array['queued', 'sent', 'failed', 'delivered', 'read']`;

/**
 * A report names the message by the platform's id, or by ours where the platform gives it back. It also proves that the
 * platform has the message: should it still wait to be sent (again), because the answer was lost, it need not, nor
 * what waits behind it; and should we have given it up for that, whatever the platform says is more than we knew.
 * What is under a lease is due already and left alone: whoever holds it finds the row where it was.
 */
const apply = statement<{ was_waiting: boolean }>(
  'statuses.apply',
  `with named as (
     select message_id as id from message_external_ids
     where workspace_id = $1 and channel_id = $2 and outgoing and external_id = $3),
   known as (
     select m.id, m.conversation_id, not exists (select from named) as is_new from messages m
     join conversations c on c.workspace_id = m.workspace_id and c.id = m.conversation_id and c.channel_id = $2
     where m.workspace_id = $1 and m.id = coalesce((select id from named), $4) and m.type = 'outgoing' and not m.private),
   moved as (
     update messages m set status = $5, error = $6 from known
     where m.workspace_id = $1 and m.id = known.id
       and (array_position(${progress}, m.status) < array_position(${progress}, $5::text)
         or m.status = 'failed' and known.is_new)),
   remembered as (
     insert into message_external_ids (workspace_id, channel_id, outgoing, external_id, conversation_id, message_id)
     select $1, $2, true, $3, known.conversation_id, known.id from known where is_new on conflict do nothing),
   settled as (
     delete from outgoing_queue where workspace_id = $1 and id = (select id from known)
     returning conversation_id, seq),
   released as (
     update outgoing_queue set next_at = clock_timestamp()
     where conversation_id = (select conversation_id from settled) and seq > (select seq from settled)
       and leased_until is null)
   select exists (select from settled) as was_waiting from known`,
);

const lock = statement<{ locked: unknown }>(
  'statuses.lock',
  `select pg_advisory_xact_lock(hashtextextended('status ' || $1 || ' ' || $2 || ' ' || $3, 0)) as locked`,
);

/** false: no such message on this channel. */
export async function applyStatus(
  tx: Tx,
  workspaceId: string,
  channelId: string,
  { externalId, messageId, status, error }: StatusReport,
): Promise<boolean> {
  // Sent together. The second then sees what an earlier report of the same message has left.
  const [, [known]] = await Promise.all([
    tx.query(lock, [workspaceId, channelId, externalId]),
    tx.query(apply, [workspaceId, channelId, externalId, messageId ?? null, status, error]),
  ]);
  if (known?.was_waiting) tx.announce('outgoing'); // what waited behind it may go
  return known !== undefined;
}

const phone = statement<{ phone: string }>(
  'contacts.find_phone',
  `select phone from contacts where workspace_id = $1 and phone = any ($2::text[])
   order by array_position($2::text[], phone) limit 1`,
);

/** The first of these that a contact has. */
export async function findPhone(
  db: Reader,
  workspaceId: string,
  phones: string[],
): Promise<string | undefined> {
  const [row] = await db.query(phone, [workspaceId, phones]);
  return row?.phone;
}
