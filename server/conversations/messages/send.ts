import type { Reader, Tx } from '../../db/client.ts';
import { invalid } from '../../errors.ts';
import type { ThreadRow } from '../queries.ts';
import { messagesCreated } from './events.ts';
import { appendMessage, messageOf } from './messages.ts';
import { outgoingText } from './outgoing.ts';
import { type Appended, insertMessages, touchConversations } from './queries.ts';
import type { Message, NewMessage } from './schema.ts';
import type { Sender } from './sender.ts';

/** Sends a message into a locked conversation and tells the subscribers. `field` leads the names of fields. */
export async function sendMessage(
  tx: Tx,
  workspaceId: string,
  conversation: ThreadRow,
  input: NewMessage,
  sender: Sender,
  field = '',
): Promise<Message> {
  const message = await composeMessage(tx, workspaceId, conversation, input, sender, field);
  writeSent(tx, [message]);
  return messageOf(message.row);
}

/** Checks everything and writes nothing. */
export async function composeMessage(
  db: Reader,
  workspaceId: string,
  conversation: ThreadRow,
  input: NewMessage,
  sender: Sender,
  field = '',
): Promise<Appended> {
  if (!input.private && conversation.channel_archived) {
    throw invalid(
      `${field}channel`,
      'archived',
      'The channel of this conversation is archived: it sends nothing new',
    );
  }
  const { content, template } = await outgoingText(db, workspaceId, conversation, input, field);
  const isNote = input.private === true;
  return appendMessage(workspaceId, conversation, {
    type: 'outgoing',
    content,
    sender,
    private: isNote,
    status: isNote ? null : conversation.channel_has_outlet ? 'queued' : 'sent',
    template,
    attachments: input.attachments ?? [],
  });
}

/** Messages of different conversations, all of them locked. */
export function writeSent(tx: Tx, messages: Appended[]): void {
  insertMessages(tx, messages);
  touchConversations(tx, messages);
  messagesCreated(tx, messages);
}
