import type { Tx } from '../../db/client.ts';
import { emit, type NewEvent } from '../../events/emit.ts';
import { toId } from '../../ids.ts';
import { messageOf } from './messages.ts';
import type { Appended } from './queries.ts';

export const messagesCreated = (tx: Tx, messages: Appended[]): void => emit(tx, messages.map(created));

function created({ workspaceId, conversation, row }: Appended): NewEvent {
  const { id, type, content, created_at, private: isPrivate, sender, attachments } = messageOf(row);
  return {
    workspaceId,
    type: 'message.created',
    at: created_at,
    data: {
      message: {
        id,
        type,
        content,
        created_at,
        private: isPrivate,
        sender,
        ...(attachments.length > 0 && { attachments }),
      },
      conversation: { id: toId('conversation', conversation.id), status: conversation.status },
      contact: {
        id: toId('contact', conversation.contact_id),
        name: conversation.contact_name,
        phone: conversation.contact_phone,
      },
      channel: { id: toId('channel', conversation.channel_id), type: conversation.channel_type },
    },
  };
}
