import { findAgent } from '../agents/queries.ts';
import { findChannel } from '../channels/queries.ts';
import { findContact } from '../contacts/queries.ts';
import type { Tx } from '../db/client.ts';
import { type Kind, toId } from '../ids.ts';
import { referenced } from '../references.ts';
import { conversationCreated } from './events.ts';
import { sendMessage } from './messages/send.ts';
import type { Sender } from './messages/sender.ts';
import { type DetailRow, insertConversation, type SummaryRow } from './queries.ts';
import { replyWindow } from './reply-window.ts';
import type { Conversation, ConversationSummary, NewConversation } from './schema.ts';

/** A new outbound conversation, with its first message when there is one. */
export async function createConversation(
  tx: Tx,
  workspaceId: string,
  input: NewConversation,
  sender: Sender,
): Promise<Conversation> {
  const { contact_id, channel_id, assignee_id } = input;
  const contact = await referenced('contact_id', 'contact', contact_id, (id) =>
    findContact(tx, workspaceId, id),
  );
  const channel = await referenced('channel_id', 'channel', channel_id, (id) =>
    findChannel(tx, workspaceId, id),
  );
  const assignee =
    typeof assignee_id === 'string'
      ? await referenced('assignee_id', 'agent', assignee_id, (id) => findAgent(tx, workspaceId, id))
      : undefined;
  const row = await insertConversation(tx, workspaceId, {
    channelId: channel.id,
    contactId: contact.id,
    assigneeId: assignee?.id ?? null,
  });
  conversationCreated(tx, workspaceId, conversationOf(row));
  if (input.message) await sendMessage(tx, workspaceId, row, input.message, sender, 'message.');
  return conversationOf(row);
}

export function summaryOf(row: SummaryRow): ConversationSummary {
  return {
    id: toId('conversation', row.id),
    status: row.status,
    channel: { id: toId('channel', row.channel_id), type: row.channel_type, name: row.channel_name },
    contact: { id: toId('contact', row.contact_id), name: row.contact_name, phone: row.contact_phone },
    assignee: namedOf('agent', row.assignee_id, row.assignee_name),
    labels: row.labels,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

export function conversationOf(row: DetailRow): Conversation {
  return {
    ...summaryOf(row),
    team: namedOf('team', row.team_id, row.team_name),
    snoozed_until: row.snoozed_until,
    reply_window: replyWindow(row),
  };
}

export function namedOf(kind: Kind, id: string | null, name: string | null) {
  return id === null ? null : { id: toId(kind, id), name: name ?? '' };
}
