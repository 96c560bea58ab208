import { newUuid, toId } from '../../ids.ts';
import type { ThreadRow } from '../queries.ts';
import type { Appended, MessageRow, UsedTemplate } from './queries.ts';
import type { Attachment, Message } from './schema.ts';
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

/** The next message of a locked conversation: takes the next number, and the time after the lock. Yet to be inserted. */
export function appendMessage(workspaceId: string, conversation: ThreadRow, draft: Draft): Appended {
  const { type, content, sender } = draft;
  conversation.last_seq += 1;
  conversation.updated_at = conversation.now;
  return {
    workspaceId,
    conversation,
    seq: conversation.last_seq,
    row: {
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
    },
    template: draft.template ?? null,
  };
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
