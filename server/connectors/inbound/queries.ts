import { contactColumns, type ContactRow } from '../../contacts/queries.ts';
import { statement, type Tx } from '../../db/client.ts';

const lockNames = statement<{ locked: unknown }>(
  'inbound.lock_names',
  `select pg_advisory_xact_lock(hashtextextended('inbound ' || $1 || ' ' || name, 0)) as locked
   from unnest($2::text[]) name`,
);

/**
 * Two first messages of one customer meet here and not in two new contacts. Sorted, so that requests which share
 * several names take them in the same order.
 */
export async function lockIdentities(tx: Tx, workspaceId: string, names: string[]): Promise<void> {
  await tx.query(lockNames, [workspaceId, names.toSorted()]);
}

const findRepeat = statement<{ conversation_id: string; message_id: string }>(
  'inbound.find_repeat',
  `select conversation_id, message_id from message_external_ids
   where workspace_id = $1 and channel_id = $2 and not outgoing and external_id = $3`,
);

export async function findRepeatedMessage(
  tx: Tx,
  workspaceId: string,
  channelId: string,
  externalId: string,
) {
  const [row] = await tx.query(findRepeat, [workspaceId, channelId, externalId]);
  return row;
}

const rememberMessage = statement<never>(
  'inbound.remember_message',
  `insert into message_external_ids (workspace_id, channel_id, external_id, conversation_id, message_id)
   values ($1, $2, $3, $4, $5)`,
);

export function insertExternalId(
  tx: Tx,
  workspaceId: string,
  values: { channelId: string; externalId: string; conversationId: string; messageId: string },
): void {
  const { channelId, externalId, conversationId, messageId } = values;
  tx.send(rememberMessage, [workspaceId, channelId, externalId, conversationId, messageId]);
}

/** One at a time for each contact: the next message then finds the conversation this one opens. */
const lockByIdentity = statement<ContactRow>(
  'inbound.lock_contact_by_identity',
  `select ${contactColumns} from contacts c
   where c.workspace_id = $1 and c.id = (
     select contact_id from contact_identities where workspace_id = $1 and channel_id = $2 and identity = $3)
   for no key update`,
);

/** Two index probes; an `or` over both columns would read neither index well. */
const findByPhoneOrEmail = statement<{ contact_id: string }>(
  'inbound.find_by_phone_or_email',
  `select id as contact_id from (
     (select id, created_at from contacts where workspace_id = $1 and phone = $2 order by created_at, id limit 1)
     union all
     (select id, created_at from contacts where workspace_id = $1 and lower(email) = lower($3)
      order by created_at, id limit 1)) known
   order by created_at, id limit 1`,
);

const rememberIdentity = statement<never>(
  'inbound.remember_identity',
  `insert into contact_identities (workspace_id, channel_id, identity, contact_id) values ($1, $2, $3, $4)
   on conflict (workspace_id, channel_id, identity) do nothing`,
);

export async function lockContactByIdentity(
  tx: Tx,
  workspaceId: string,
  channelId: string,
  identity: string,
): Promise<ContactRow | undefined> {
  const [row] = await tx.query(lockByIdentity, [workspaceId, channelId, identity]);
  return row;
}

export async function findContactIdByPhoneOrEmail(
  tx: Tx,
  workspaceId: string,
  phone: string | null,
  email: string | null,
): Promise<string | undefined> {
  if (phone === null && email === null) return undefined;
  const [row] = await tx.query(findByPhoneOrEmail, [workspaceId, phone, email]);
  return row?.contact_id;
}

export function insertIdentity(
  tx: Tx,
  workspaceId: string,
  channelId: string,
  identity: string,
  contactId: string,
): void {
  tx.send(rememberIdentity, [workspaceId, channelId, identity, contactId]);
}
