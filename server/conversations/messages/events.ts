import type { Tx } from '../../db/client.ts';
import { emit } from '../../events/emit.ts';
import { toId } from '../../ids.ts';
import type { ConversationRow } from '../queries.ts';
import type { Message } from './schema.ts';

export function messageCreated(
  tx: Tx,
  workspaceId: string,
  conversation: ConversationRow,
  message: Message,
): void {
  const { id, type, content, created_at, private: isPrivate, sender, attachments } = message;
  emit(tx, workspaceId, 'message.created', created_at, {
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
  });
}
