import { type Batch, copyInto } from './connections.ts';
import { contactColumns, type ContactPlan, contactRows, contactTagColumns } from './contacts.ts';
import {
  conversationColumns,
  conversationLabelColumns,
  conversationRow,
  conversationRows,
} from './conversations.ts';
import { addMessages, messageColumns } from './messages.ts';
import type { Conversation, ConversationPlan } from './plan.ts';

/**
 * Messages in a batch: about half a second of work, which is what an interruption waits for and how often the triggers
 * that count run. A contact or a conversation, with all its indexes, costs as much as four messages (100 and 27 µs).
 */
const messagesPerBatch = 20_000;
const costOfOther = 4;

export function* contactBatches(plan: ContactPlan): Generator<Batch> {
  const step = messagesPerBatch / costOfOther;
  for (let from = 0; from < plan.count; from += step) {
    yield async (connection) => {
      const { contacts, contactTags } = contactRows(plan, from, Math.min(from + step, plan.count));
      await copyInto(connection, contactColumns, contacts);
      await copyInto(connection, contactTagColumns, contactTags);
      return contacts.length;
    };
  }
}

/** Whole conversations: whatever is there after an interruption has all its messages. */
export function* conversationBatches(plan: ConversationPlan): Generator<Batch> {
  const { messageCounts } = plan;
  let firstMessage = 0;
  for (let from = 0, to = 0; from < messageCounts.length; from = to) {
    let messages = 0;
    while (to < messageCounts.length && (to - from) * costOfOther + messages < messagesPerBatch) {
      messages += messageCounts[to++]!;
    }
    const batch = { from, to, firstMessage };
    yield async (connection) => {
      const rows = conversationRows(plan, batch.from, batch.to, batch.firstMessage);
      await copyInto(connection, conversationColumns, rows.conversations);
      await copyInto(connection, conversationLabelColumns, rows.conversationLabels);
      await copyInto(connection, messageColumns, rows.messages);
      return rows.conversations.length + rows.messages.length;
    };
    firstMessage += messages;
  }
}

/** One open conversation of any length. After every batch it is whole: its last number is the count of its messages. */
export function* longConversationBatches(
  plan: ConversationPlan,
  conversation: Conversation,
  firstMessage: number,
): Generator<Batch> {
  const { workspaceId } = plan;
  const { id, lastSeq } = conversation;
  for (let from = 1; from <= lastSeq; from += messagesPerBatch) {
    const to = Math.min(from + messagesPerBatch - 1, lastSeq);
    yield async (connection) => {
      const messages: string[] = [];
      const { lastIncomingMs, lastMs } = addMessages(messages, plan, conversation, firstMessage, from, to);
      if (from === 1) {
        const soFar = { ...conversation, lastSeq: to, updatedMs: lastMs };
        await copyInto(connection, conversationColumns, [conversationRow(plan, soFar, lastIncomingMs)]);
      } else {
        await connection.query(
          `update conversations set last_seq = $3, updated_at = to_timestamp($4 / 1000.0),
             last_incoming_at = coalesce(to_timestamp($5 / 1000.0), last_incoming_at)
           where workspace_id = $1 and id = $2`,
          [workspaceId, id, to, lastMs, lastIncomingMs],
        );
      }
      await copyInto(connection, messageColumns, messages);
      return messages.length + (from === 1 ? 1 : 0);
    };
  }
}
