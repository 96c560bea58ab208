import type { ChannelRow } from '../../channels/queries.ts';
import { contactOf, createContact } from '../../contacts/contacts.ts';
import { findContact, lockContact, type ContactRow } from '../../contacts/queries.ts';
import type { Contact } from '../../contacts/schema.ts';
import { changeConversation } from '../../conversations/change.ts';
import { conversationOf } from '../../conversations/conversations.ts';
import { conversationCreated } from '../../conversations/events.ts';
import { messagesCreated } from '../../conversations/messages/events.ts';
import { appendMessage, messageOf } from '../../conversations/messages/messages.ts';
import { checkText } from '../../conversations/messages/outgoing.ts';
import { findMessage, insertMessages, touchByIncoming } from '../../conversations/messages/queries.ts';
import type { Attachment, Message } from '../../conversations/messages/schema.ts';
import { systemSender } from '../../conversations/messages/sender.ts';
import {
  type ConversationRow,
  findConversation,
  insertConversation,
  lockNewestConversation,
  lockNewestConversationOf,
} from '../../conversations/queries.ts';
import type { Conversation } from '../../conversations/schema.ts';
import type { Tx } from '../../db/client.ts';
import { badRequest, invalid } from '../../errors.ts';
import { fromId } from '../../ids.ts';
import {
  findContactIdByPhoneOrEmail,
  findRepeatedMessage,
  insertExternalId,
  insertIdentity,
  lockContactByIdentity,
  lockIdentities,
} from './queries.ts';
import type { InboundMessage } from './schema.ts';

export interface Received {
  message: Message;
  conversation: Conversation;
  contact: Contact;
  repeated: boolean;
}

/** As a request brings it, or as a connector has read it. */
export interface Incoming extends Omit<InboundMessage, 'attachments'> {
  /** The function is called once the message is known to be new. */
  attachments?: Attachment[] | (() => Attachment[]);
  /** When the customer wrote it, where the platform tells: a reply window counts from then. */
  sentAt?: Date;
}

/** A customer's message enters, over whichever channel. Safe to call twice with the same message, and at once. */
export async function receiveMessage(
  tx: Tx,
  workspaceId: string,
  channel: Pick<ChannelRow, 'id' | 'after_resolved'>,
  input: Incoming,
): Promise<Received> {
  const who = identityOf(input);
  // Most messages come from a customer who has written before: all that takes is asked for in one round trip. The four
  // run in this order, each seeing what was committed before it. One by one: 534 messages a second; so: 773.
  const [, repeat, known, newest] = await Promise.all([
    lockIdentities(tx, workspaceId, [
      ...who.names.map((name) => (name.startsWith('external_id ') ? `${channel.id} ${name}` : name)),
      ...(input.external_id === undefined ? [] : [`${channel.id} message ${input.external_id}`]),
    ]),
    input.external_id && findRepeatedMessage(tx, workspaceId, channel.id, input.external_id),
    lockContactByIdentity(tx, workspaceId, channel.id, who.strongest),
    lockNewestConversationOf(tx, workspaceId, channel.id, who.strongest),
  ]);
  if (repeat) return readBack(tx, workspaceId, repeat.conversation_id, repeat.message_id);

  const contact = known ?? (await findOrCreateContact(tx, workspaceId, channel.id, who));
  const found = known ? newest : await lockNewestConversation(tx, workspaceId, contact.id, channel.id);
  const conversation = await openConversation(tx, workspaceId, channel, contact.id, found);
  const message = appendMessage(workspaceId, conversation, {
    type: 'incoming',
    content: input.content ?? '',
    sender: { type: 'contact', id: contact.id, name: contact.name },
    attachments: typeof input.attachments === 'function' ? input.attachments() : (input.attachments ?? []),
  });
  insertMessages(tx, [message]);
  const { now } = conversation;
  const wroteAt = earlier(input.sentAt?.toISOString() ?? now, now);
  conversation.window_from = later(conversation.window_from ?? wroteAt, wroteAt);
  touchByIncoming(tx, message, wroteAt, input.from.external_id ?? null);
  if (input.external_id !== undefined) {
    insertExternalId(tx, workspaceId, {
      channelId: channel.id,
      externalId: input.external_id,
      conversationId: conversation.id,
      messageId: message.row.id,
    });
  }
  messagesCreated(tx, [message]);
  return {
    message: messageOf(message.row),
    conversation: conversationOf(conversation),
    contact: contactOf(contact),
    repeated: false,
  };
}

interface Identity {
  /** The strongest name this customer has on the channel: remembered for the next message. */
  strongest: string;
  names: string[];
  phone: string | null;
  email: string | null;
  displayName: string;
}

function identityOf({ from }: Incoming): Identity {
  const phone = from.phone ?? null;
  const email = from.email ?? null;
  const names = [
    from.external_id === undefined ? '' : `external_id ${from.external_id}`,
    phone === null ? '' : `phone ${phone}`,
    email === null ? '' : `email ${email.toLowerCase()}`,
  ].filter((name) => name !== '');
  const [strongest] = names;
  if (strongest === undefined) {
    const message = 'from needs at least one of external_id, phone and email';
    throw badRequest(message, [{ field: 'from', rule: 'required', message }]);
  }
  const displayName = [from.name, phone, email, from.external_id].find((name) => name?.trim()) ?? 'Unknown';
  return { strongest, names, phone, email, displayName };
}

const earlier = (a: string, b: string): string => (a < b ? a : b);
const later = (a: string, b: string): string => (a > b ? a : b);

/** What a request must bring; a connector has made sure of it by itself. */
export function checkContent({ content, attachments }: InboundMessage): void {
  if (content === undefined && !attachments?.length) {
    const message = 'content is required unless there are attachments';
    throw badRequest(message, [{ field: 'content', rule: 'required', message }]);
  }
  if (content !== undefined && (content !== '' || !attachments?.length)) {
    checkText(content, { channel_type: 'api' }, 'content');
  }
}

/** Not known on this channel yet: the oldest contact with that phone or e-mail, else a new one. */
async function findOrCreateContact(
  tx: Tx,
  workspaceId: string,
  channelId: string,
  who: Identity,
): Promise<ContactRow> {
  const id = await findContactIdByPhoneOrEmail(tx, workspaceId, who.phone, who.email);
  if (id === undefined) {
    const { displayName: name, phone, email } = who;
    const made = await createContact(tx, workspaceId, { name, phone, email });
    const contact = { ...made, id: fromId('contact', made.id)! };
    insertIdentity(tx, workspaceId, channelId, who.strongest, contact.id);
    return contact;
  }
  insertIdentity(tx, workspaceId, channelId, who.strongest, id);
  // One at a time for each contact: the next message then finds the conversation this one opens.
  const contact = await lockContact(tx, workspaceId, id);
  return contact!;
}

/** The newest conversation of this contact on this channel, reopened where the channel says so; else a new one. */
async function openConversation(
  tx: Tx,
  workspaceId: string,
  channel: Pick<ChannelRow, 'id' | 'after_resolved'>,
  contactId: string,
  newest: ConversationRow | undefined,
): Promise<ConversationRow> {
  if (!newest || (newest.status === 'resolved' && channel.after_resolved === 'new')) {
    const row = await insertConversation(tx, workspaceId, {
      channelId: channel.id,
      contactId,
      assigneeId: null,
    });
    conversationCreated(tx, workspaceId, conversationOf(row));
    return row;
  }
  if (newest.status === 'open' || newest.status === 'pending') return newest;
  return changeConversation(tx, workspaceId, newest, { status: 'open' }, systemSender);
}

async function readBack(
  tx: Tx,
  workspaceId: string,
  conversationId: string,
  messageId: string,
): Promise<Received> {
  const message = await findMessage(tx, workspaceId, messageId);
  const conversation = await findConversation(tx, workspaceId, conversationId);
  const contact = conversation && (await findContact(tx, workspaceId, conversation.contact_id));
  if (!message || !conversation || !contact)
    throw invalid('external_id', 'exists', 'That message was deleted');
  return {
    message: messageOf(message),
    conversation: conversationOf(conversation),
    contact: contactOf(contact),
    repeated: true,
  };
}
