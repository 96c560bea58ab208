import { channelTypes } from '../../channels/types.ts';
import type { Tx } from '../../db/client.ts';
import { badRequest, invalid } from '../../errors.ts';
import { newUuid, toId } from '../../ids.ts';
import { referenced } from '../../references.ts';
import { findTemplate } from '../../templates/queries.ts';
import { renderTemplate } from '../../templates/render.ts';
import type { ConversationRow } from '../queries.ts';
import { replyWindow } from '../reply-window.ts';
import { messageCreated } from './events.ts';
import {
  enqueueMessage,
  insertMessage,
  type MessageRow,
  touchConversation,
  type UsedTemplate,
} from './queries.ts';
import type { Attachment, Message, NewMessage } from './schema.ts';
import { type Sender, senderJson } from './sender.ts';

/** What to put into a thread, decided and checked. */
interface Draft {
  type: MessageRow['type'];
  content: string;
  sender: Sender;
  private?: boolean;
  status?: MessageRow['status'];
  template?: UsedTemplate | null;
  attachments?: Attachment[];
}

/** Appends to a locked conversation: takes the next number and the time after the lock. */
export function appendMessage(
  tx: Tx,
  workspaceId: string,
  conversation: ConversationRow,
  draft: Draft,
): Message {
  const { type, content, sender } = draft;
  const row: MessageRow = {
    id: newUuid(),
    type,
    content,
    sender_type: sender.type,
    sender_id: sender.id,
    sender_name: sender.name,
    attachments: draft.attachments ?? [],
    private: draft.private ?? false,
    status: draft.status ?? null,
    error: null,
    created_at: conversation.now,
  };
  conversation.last_seq += 1;
  conversation.updated_at = conversation.now;
  insertMessage(tx, workspaceId, conversation.id, conversation.last_seq, row, draft.template ?? null);
  if (row.status === 'queued') {
    const { id, channel_id: channelId, last_seq: seq } = conversation;
    enqueueMessage(tx, workspaceId, { id: row.id, channelId, conversationId: id, seq });
  }
  return messageOf(row);
}

/** Sends a message into a locked conversation and tells the subscribers. */
export async function sendMessage(
  tx: Tx,
  workspaceId: string,
  conversation: ConversationRow,
  input: NewMessage,
  sender: Sender,
  field = '',
): Promise<Message> {
  if (!input.private && conversation.channel_archived) {
    throw invalid(
      `${field}channel`,
      'archived',
      'The channel of this conversation is archived: it sends nothing new',
    );
  }
  const { content, template } = await outgoingText(tx, workspaceId, conversation, input, field);
  const isNote = input.private === true;
  const message = appendMessage(tx, workspaceId, conversation, {
    type: 'outgoing',
    content,
    sender,
    private: isNote,
    status: isNote ? null : conversation.channel_has_outlet ? 'queued' : 'sent',
    template,
    attachments: input.attachments ?? [],
  });
  touchConversation(tx, workspaceId, conversation.id, conversation.last_seq, conversation.updated_at, null);
  messageCreated(tx, workspaceId, conversation, message);
  return message;
}

/** The text that will be stored and sent, from plain text or from a template. `field` leads the names of fields. */
async function outgoingText(
  tx: Tx,
  workspaceId: string,
  conversation: ConversationRow,
  { content, template_id, template_variables, attachments = [], private: isNote }: NewMessage,
  field: string,
): Promise<{ content: string; template: UsedTemplate | null }> {
  if (!isNote) {
    checkAttachments(attachments, conversation, `${field}attachments`);
    checkCaption(attachments, content ?? '', conversation, `${field}content`);
  }
  if (template_id !== undefined) {
    if (attachments.length > 0) {
      throw invalid(`${field}attachments`, 'template', 'A template cannot carry attachments');
    }
    if (isNote) throw invalid(`${field}private`, 'template', 'A private note cannot be a template');
    if (content !== undefined) {
      throw invalid(`${field}content`, 'exclusive', `Send ${field}content or ${field}template_id, not both`);
    }
    const text = await templateText(
      tx,
      workspaceId,
      conversation,
      template_id,
      template_variables ?? {},
      field,
    );
    checkText(text.content, conversation, `${field}template_variables`);
    return text;
  }
  if (content === undefined && attachments.length === 0) {
    const message = `${field}content is required unless ${field}template_id or attachments are sent`;
    throw badRequest(message, [{ field: `${field}content`, rule: 'required', message }]);
  }
  if (content) checkText(content, conversation, `${field}content`);
  else if (attachments.length === 0)
    throw invalid(`${field}content`, 'not_blank', `${field}content must not be empty`);
  if (!isNote && !replyWindow(conversation).open) {
    throw invalid(
      `${field}content`,
      'reply_window',
      'The customer has not written in the last 24 hours, so this channel takes templates only: send template_id',
    );
  }
  return { content: content ?? '', template: null };
}

/** Counted in characters, not in UTF-16 units; no count is needed where the units already fit. */
export function checkText(
  content: string,
  { channel_type }: Pick<ConversationRow, 'channel_type'>,
  field: string,
): void {
  if (content.trim() === '') throw invalid(field, 'not_blank', `${field} must not be empty`);
  const { maxTextLength } = channelTypes[channel_type];
  if (content.length > maxTextLength && Array.from(content).length > maxTextLength) {
    throw invalid(
      field,
      'maxLength',
      `${field} must have at most ${maxTextLength} characters on a channel of type ${channel_type}`,
    );
  }
}

function checkAttachments(attachments: Attachment[], { channel_type }: ConversationRow, field: string): void {
  const { most, types } = channelTypes[channel_type].attachments;
  if (attachments.length > most) {
    const rule = `takes at most ${most} attachment${most === 1 ? '' : 's'} a message`;
    throw invalid(field, 'maxItems', `A channel of type ${channel_type} ${rule}`);
  }
  for (const [place, { content_type }] of attachments.entries()) {
    if (types === null || types.includes(content_type.split(';', 1)[0]!.trim().toLowerCase())) continue;
    const name = `${field}.${place}.content_type`;
    throw invalid(name, 'content_type', `${name} must be one of ${types.join(', ')} on ${channel_type}`);
  }
}

function checkCaption(
  attachments: Attachment[],
  content: string,
  { channel_type }: ConversationRow,
  field: string,
): void {
  const { maxCaptionLength = Number.POSITIVE_INFINITY, captionless } = channelTypes[channel_type].attachments;
  if (content === '' || attachments.length === 0) return;
  if (captionless && attachments.some(({ content_type }) => content_type.startsWith(captionless))) {
    throw invalid(field, 'caption', `${channel_type} shows no text beside audio: send them as two messages`);
  }
  if (Array.from(content).length > maxCaptionLength) {
    const rule = `must have at most ${maxCaptionLength} characters beside an attachment on ${channel_type}`;
    throw invalid(field, 'maxLength', `${field} ${rule}`);
  }
}

async function templateText(
  tx: Tx,
  workspaceId: string,
  conversation: ConversationRow,
  templateId: string,
  variables: Record<string, unknown>,
  field: string,
): Promise<{ content: string; template: UsedTemplate }> {
  const name = `${field}template_id`;
  const template = await referenced(name, 'template', templateId, (id) => findTemplate(tx, workspaceId, id));
  if (template.channel_id !== null && template.channel_id !== conversation.channel_id) {
    throw invalid(name, 'channel', `${name} names a template of another channel`);
  }
  if (template.status !== 'approved') {
    throw invalid(
      name,
      'approved',
      `${name} names a template that is ${template.status}; only approved ones can be sent`,
    );
  }
  const rendered = renderTemplate(template.body, variables);
  if ('missing' in rendered) {
    const list = rendered.missing.join(', ');
    throw invalid(`${field}template_variables`, 'required', `${field}template_variables lacks ${list}`);
  }
  return { content: rendered.text, template: { id: template.id, variables } };
}

export function messageOf(row: MessageRow): Message {
  return {
    id: toId('message', row.id),
    type: row.type,
    content: row.content,
    sender: senderJson({ type: row.sender_type, id: row.sender_id, name: row.sender_name }),
    attachments: row.attachments,
    private: row.private,
    status: row.status,
    error: row.error,
    created_at: row.created_at,
  };
}
