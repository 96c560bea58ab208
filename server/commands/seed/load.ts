import type pg from 'pg';
import { countOf, rollUpCounts } from '../../counts/counts.ts';
import type { Db } from '../../db/client.ts';
import { UsageError } from '../usage.ts';
import { contactBatches, conversationBatches, longConversationBatches } from './batches.ts';
import { runBatches, withConnections } from './connections.ts';
import { type ContactPlan, type ContactPool, foundContacts, madeContacts } from './contacts.ts';
import { longConversation, shareOut } from './conversations.ts';
import type { ConversationPlan } from './plan.ts';
import type { Progress } from './progress.ts';
import { ensureSettings } from './settings.ts';
import { uuidsOfThisRun } from './uuids.ts';

export interface SeedRequest {
  workspaceId: string;
  contacts: number;
  conversations: number;
  messages: number;
  longConversation: number;
  seed: number;
}

export interface SeedRun {
  db: Db;
  url: string;
  progress: Progress;
  signal: AbortSignal;
}

const mostFoundContacts = 100_000;

/** Fills a workspace. Returns the uuid of the long conversation, if one was asked for. */
export async function load(
  request: SeedRequest,
  { db, url, progress, signal }: SeedRun,
): Promise<string | undefined> {
  const { workspaceId, seed, conversations, messages } = request;
  const base = { workspaceId, seed, nowMs: Date.now(), uuidAt: uuidsOfThisRun() };
  const watched = { signal, onRows: (rows: number) => progress.add(rows) };

  return withConnections(url, async (connections) => {
    const [first] = connections as [pg.Client];
    const contactPlan = {
      ...base,
      before: await countOf(db, workspaceId, 'contacts'),
      count: request.contacts,
    };
    const contacts = await contactPool(first, request, contactPlan);
    progress.phase('contacts');
    await runBatches(connections, contactBatches(contactPlan), watched);

    let long: string | undefined;
    if (conversations > 0 || request.longConversation > 0) {
      const plan: ConversationPlan = {
        ...base,
        before: await countOf(db, workspaceId, 'conversations'),
        messageCounts: shareOut(messages, conversations, seed),
        settings: await ensureSettings(db, workspaceId),
        contacts,
      };
      progress.phase('conversations');
      await runBatches(connections, conversationBatches(plan), watched);
      if (request.longConversation > 0) {
        progress.phase('long conversation');
        const conversation = longConversation(plan, request.longConversation);
        await runBatches([first], longConversationBatches(plan, conversation, messages), watched);
        long = conversation.id;
      }
    }
    await rollUpCounts(db);
    if (!signal.aborted) {
      progress.phase('vacuum and analyze');
      await tidy(first);
    }
    return long;
  });
}

async function contactPool(
  connection: pg.Client,
  request: SeedRequest,
  plan: ContactPlan,
): Promise<ContactPool> {
  if (request.contacts > 0) return madeContacts(plan);
  const { rows } = await connection.query<{ id: string }>(
    `select id from contacts where workspace_id = $1 order by created_at desc, id desc limit ${mostFoundContacts}`,
    [request.workspaceId],
  );
  if (rows.length === 0 && (request.conversations > 0 || request.longConversation > 0)) {
    throw new UsageError('Conversations need contacts and this workspace has none: add --contacts N');
  }
  return foundContacts(rows.map(({ id }) => id));
}

/** The planner learns of the rows, and lists can read the index alone, at once and not when autovacuum gets to it. */
async function tidy(connection: pg.Client): Promise<void> {
  for (const table of ['contacts', 'contact_tags', 'conversations', 'conversation_labels', 'messages']) {
    await connection.query(`vacuum (analyze, skip_locked) ${table}`);
  }
}
