import { type Db, isConnectionLoss, type Tx } from '../../db/client.ts';
import { gather } from '../../db/gather.ts';
import { ApiError } from '../../errors.ts';
import { lockFreeConversations } from '../queries.ts';
import { messageOf } from './messages.ts';
import type { Appended } from './queries.ts';
import type { Message, NewMessage } from './schema.ts';
import type { Sender } from './sender.ts';
import { composeMessage, writeSent } from './send.ts';

interface Sending {
  workspaceId: string;
  conversationId: string;
  input: NewMessage;
  sender: Sender;
}

/** A lost connection shows at once. Whoever has waited longer for the database does not wait as long again. */
const tryAloneWithinMs = 1_000;

/**
 * Messages sent at once, each into a conversation of its own, are written in one transaction: 16 rows in one statement
 * cost PostgreSQL what 5 cost one by one, and share a commit. undefined: this one is to be sent alone, because its
 * conversation is missing or held by somebody, because there is something to say against it, or because nothing was
 * written. Only a connection that is lost with the commit fails for all: nobody knows what became of it.
 */
export function togetherSender(db: Db): (sending: Sending) => Promise<Message | undefined> {
  return gather(
    async (all: Sending[]) => {
      const begun = performance.now();
      let committing = false;
      try {
        return await db.transaction(async (tx) => {
          committing = false;
          const sent = await sendAll(tx, all);
          committing = true;
          return sent;
        });
      } catch (error) {
        const late = performance.now() - begun > tryAloneWithinMs;
        if (isConnectionLoss(error) && (committing || late)) throw error;
        return [];
      }
    },
    ({ workspaceId, conversationId }) => `${workspaceId} ${conversationId}`,
  );
}

async function sendAll(tx: Tx, all: Sending[]): Promise<(Message | undefined)[]> {
  const conversations = await lockFreeConversations(tx, all);
  const composed = await Promise.all(
    all.map(async ({ workspaceId, input, sender }, i) => {
      const conversation = conversations[i];
      return conversation && unlessRefused(composeMessage(tx, workspaceId, conversation, input, sender));
    }),
  );
  const messages = composed.filter((message) => message !== undefined);
  if (messages.length > 0) writeSent(tx, messages);
  return composed.map((message) => message && messageOf(message.row));
}

/** What is to be said against a message is said when it is sent alone. */
const unlessRefused = (composed: Promise<Appended>): Promise<Appended | undefined> =>
  composed.catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    return undefined;
  });
