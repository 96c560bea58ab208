import { randomUUIDv7 } from 'node:crypto';
import { createContact } from '../../server/contacts/contacts.ts';
import { listContacts } from '../../server/contacts/queries.ts';
import type { NewContact } from '../../server/contacts/schema.ts';
import { findChannel } from '../../server/channels/queries.ts';
import { receiveMessage } from '../../server/connectors/inbound/inbound.ts';
import type { InboundMessage } from '../../server/connectors/inbound/schema.ts';
import { changeConversation } from '../../server/conversations/change.ts';
import { filtersOf } from '../../server/conversations/filters.ts';
import { listConversations } from '../../server/conversations/list.ts';
import { listMessages } from '../../server/conversations/messages/queries.ts';
import { systemSender } from '../../server/conversations/messages/sender.ts';
import { findConversation, lockConversation } from '../../server/conversations/queries.ts';
import type { ConversationUpdate } from '../../server/conversations/schema.ts';
import { openDb, type Statement } from '../../server/db/client.ts';
import { fromId, type Kind } from '../../server/ids.ts';
import { findOldestWorkspace } from '../../server/workspaces/queries.ts';
import { atEnd } from '../clean-up.ts';
import type { Call } from '../load.ts';
import { type Sample, sampleOf } from '../sample.ts';
import { eventBody, forgetUndelivered, sendInOneStatement } from './send-message.ts';

/**
 * The one file of the benchmark that imports the service: the SQL behind a call, run by the service's own query
 * functions over its own driver with a pool of its size, and nothing else. A copied text would go stale.
 */
export interface Sql {
  /** So many loops at once, each asking for the next call as soon as it has its answer. */
  run(calls: Call[], concurrency: number, seconds: number): Promise<Sample>;
  /** Once deliveries that others have queued are out, and those of our own are gone. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** One statement that commits by itself goes over `alone`, a third of a pool: ten, as many as the service writes over. */
const poolOfThirty = 30;

/** `n` is never the same; `round` is how often all calls have had their turn. */
type Work = (n: number, round: number) => Promise<unknown>;

export async function openSql(databaseUrl: string): Promise<Sql> {
  const db = openDb({ url: databaseUrl });
  atEnd(() => db.close());
  const single = openDb({ url: databaseUrl, poolSize: poolOfThirty });
  atEnd(() => single.close());
  const workspaceId = (await findOldestWorkspace(db))!.id;
  let numbersUsed = 0;

  /** The same as the route of that method and path does, from the query function on. */
  function workOf({ method, path, body }: Call): Work {
    const url = new URL(path, 'http://bench');
    const [, , resource, id = '', below] = url.pathname.split('/');
    const bodies = [body ?? '{}'].flat();
    const input = (n: number, round: number): unknown =>
      JSON.parse(bodies[round % bodies.length]!.replaceAll('{n}', `${process.pid}-${n}`));
    switch (`${method} ${resource}${id && '/id'}${below ? `/${below}` : ''}`) {
      case 'GET conversations': {
        const query = Object.fromEntries(url.searchParams);
        const page = pageOf(url.searchParams, 25);
        return async () =>
          listConversations(db, workspaceId, (await filtersOf(db, workspaceId, query))!, page);
      }
      case 'GET conversations/id':
        return () => findConversation(db, workspaceId, uuidOf('conversation', id));
      case 'GET conversations/id/messages': {
        const page = pageOf(url.searchParams, 50);
        const order = url.searchParams.get('order') === 'desc' ? 'desc' : 'asc';
        return () => listMessages(db, workspaceId, uuidOf('conversation', id), order, page);
      }
      case 'GET contacts': {
        const q = url.searchParams.get('q');
        const page = pageOf(url.searchParams, 25);
        return () => listContacts(db, workspaceId, q === null ? {} : { q }, page);
      }
      case 'POST contacts':
        return (n, round) =>
          db.transaction((tx) => createContact(tx, workspaceId, input(n, round) as NewContact));
      case 'POST conversations/id/messages': {
        const conversationId = uuidOf('conversation', id);
        const { content } = JSON.parse(bodies[0]!) as { content: string };
        const statement = sendInOneStatement as Statement<never>;
        return () => {
          const [messageId, eventId] = [randomUUIDv7(), randomUUIDv7()];
          return single.alone.query(statement, [
            workspaceId,
            conversationId,
            messageId,
            content,
            eventId,
            eventBody,
          ]);
        };
      }
      case 'POST channels/id/inbound': {
        const channelId = uuidOf('channel', id);
        return (n, round) =>
          db.transaction(async (tx) => {
            const channel = await findChannel(tx, workspaceId, channelId);
            await receiveMessage(tx, workspaceId, channel!, input(n, round) as InboundMessage);
          });
      }
      case 'PATCH conversations/id': {
        const conversationId = uuidOf('conversation', id);
        return (n, round) =>
          db.transaction(async (tx) => {
            const before = await lockConversation(tx, workspaceId, conversationId);
            await changeConversation(
              tx,
              workspaceId,
              before!,
              input(n, round) as ConversationUpdate,
              systemSender,
            );
          });
      }
      default:
        throw new Error(`no SQL is known for ${method} ${path}`);
    }
  }

  return {
    async run(calls, concurrency, seconds) {
      const works = calls.map(workOf);
      const latencies: number[] = [];
      const begun = performance.now();
      const end = begun + seconds * 1_000;
      let endedAt = begun;
      const loop = async () => {
        while (endedAt < end) {
          const n = numbersUsed++;
          const sentAt = performance.now();
          await works[n % works.length]!(n, Math.floor(n / works.length));
          endedAt = performance.now();
          latencies.push(endedAt - sentAt);
        }
      };
      await Promise.all(Array.from({ length: concurrency }, loop));
      return sampleOf(latencies, (endedAt - begun) / 1_000);
    },
    async settle() {
      await db.alone.queryText(forgetUndelivered, []);
      for (;;) {
        const [row] = await db.alone.queryText<{ n: number }>('select count(*) as n from delivery_queue', []);
        if (row!.n === 0) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async close() {
      await single.close();
      await db.close();
    },
  };
}

function uuidOf(kind: Kind, id: string): string {
  const uuid = fromId(kind, id);
  if (uuid === undefined) throw new Error(`${id} is no id of a ${kind}`);
  return uuid;
}

function pageOf(query: URLSearchParams, defaultPerPage: number) {
  const page = Number(query.get('page') ?? 1);
  const perPage = Number(query.get('per_page') ?? defaultPerPage);
  return { page, perPage, offset: (page - 1) * perPage };
}
