import type { Tx } from '../db/client.ts';
import { emit } from '../events/emit.ts';
import type { Conversation, NamedValue } from './schema.ts';

/** What a PATCH, a reopening or a due snooze changed, each with its value before and after. */
export interface ConversationChanges {
  status?: { from: string; to: string };
  assignee?: { from: NamedValue | null; to: NamedValue | null };
  team?: { from: NamedValue | null; to: NamedValue | null };
  labels?: { from: string[]; to: string[] };
}

export function conversationCreated(tx: Tx, workspaceId: string, conversation: Conversation): void {
  emit(tx, workspaceId, 'conversation.created', conversation.created_at, { conversation });
}

/** One change, at most one `conversation.updated`, and `conversation.resolved` beside it when it newly resolves. */
export function conversationUpdated(
  tx: Tx,
  workspaceId: string,
  conversation: Conversation,
  changes: ConversationChanges,
): void {
  const at = conversation.updated_at;
  emit(tx, workspaceId, 'conversation.updated', at, { conversation, changes });
  if (changes.status?.to === 'resolved') emit(tx, workspaceId, 'conversation.resolved', at, { conversation });
}
