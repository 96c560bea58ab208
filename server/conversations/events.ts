import type { Tx } from '../db/client.ts';
import { emit, type NewEvent } from '../events/emit.ts';
import type { Conversation, NamedValue } from './schema.ts';

/** What a PATCH, a reopening or a due snooze changed, each with its value before and after. */
export interface ConversationChanges {
  status?: { from: string; to: string };
  assignee?: { from: NamedValue | null; to: NamedValue | null };
  team?: { from: NamedValue | null; to: NamedValue | null };
  labels?: { from: string[]; to: string[] };
}

export function conversationCreated(tx: Tx, workspaceId: string, conversation: Conversation): void {
  emit(tx, [
    { workspaceId, type: 'conversation.created', at: conversation.created_at, data: { conversation } },
  ]);
}

/** One change, at most one `conversation.updated`, and `conversation.resolved` beside it when it newly resolves. */
export function conversationUpdated(
  tx: Tx,
  workspaceId: string,
  conversation: Conversation,
  changes: ConversationChanges,
): void {
  const at = conversation.updated_at;
  const events: NewEvent[] = [
    { workspaceId, type: 'conversation.updated', at, data: { conversation, changes } },
  ];
  if (changes.status?.to === 'resolved') {
    events.push({ workspaceId, type: 'conversation.resolved', at, data: { conversation } });
  }
  emit(tx, events);
}
