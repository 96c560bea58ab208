import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Context } from '../../context.ts';
import { keyOf } from './access.ts';
import { createBell } from './bell.ts';
import { type Cursor, writeCursor } from './cursor.ts';
import { createNews } from './news.ts';
import { findVisitorContactId, listNews, type WebchatChannel } from './queries.ts';
import type { Visitor } from './token.ts';
import { visibleMessage } from './visible.ts';

const heartbeatMs = 20_000;
/** Then the browser connects again, and whether it still may is looked at anew. */
const lifetimeMs = 15 * 60_000;
export const streamsPerVisitor = 10;

export interface Streams {
  /** undefined: this visitor has as many as anyone may have. */
  open(
    channel: WebchatChannel,
    visitor: Visitor,
    cursor: Cursor,
    response: ServerResponse,
  ): Readable | undefined;
  /** Ends every stream, and those that come after. */
  close(): Promise<void>;
}

/** The live streams of this process: one for each open page of each visitor. */
export function createStreams({ db }: Pick<Context, 'db'>): Streams {
  const news = createNews({ db });
  const running = new Map<string, Set<() => void>>();
  let closing = false;
  let allEnded = () => {};

  return {
    open(channel, visitor, cursor, response) {
      const key = keyOf(channel, visitor);
      const ofVisitor = running.get(key) ?? new Set();
      if (ofVisitor.size >= streamsPerVisitor) return undefined;

      const bell = createBell();
      let ended = closing;
      const end = () => {
        ended = true;
        bell.ring();
      };
      running.set(key, ofVisitor.add(end));
      const forget = () => {
        end();
        ofVisitor.delete(end);
        if (ofVisitor.size === 0 && running.get(key) === ofVisitor) running.delete(key);
        if (running.size === 0) allEnded();
      };
      if (response.destroyed) forget();
      else response.once('close', forget);

      /** Heard before it is looked for, so nothing falls between the two. */
      async function* follow(): AsyncGenerator<string> {
        const stops = [news.hear(key, bell.ring)];
        const endsAt = Date.now() + lifetimeMs;
        let contactId: string | undefined;
        try {
          yield 'retry: 1000\n\n'; // at once, so that the browser knows the stream is there
          while (!ended && Date.now() < endsAt) {
            if (contactId === undefined) {
              contactId = await findVisitorContactId(db, channel, visitor.externalId);
              if (contactId !== undefined) stops.push(news.hear(contactId, bell.ring));
            }
            const rows = contactId === undefined ? [] : await listNews(db, channel, contactId, cursor);
            for (const row of rows) {
              cursor.set(row.conversation_id, row.seq);
              yield `id: ${writeCursor(cursor)}\nevent: message\ndata: ${JSON.stringify(visibleMessage(row))}\n\n`;
            }
            if (rows.length > 0) continue;
            while (Date.now() < endsAt && !(await bell.heard(heartbeatMs))) yield ':\n\n';
          }
        } finally {
          for (const stop of stops) stop();
        }
      }
      return Readable.from(follow(), { objectMode: false });
    },

    async close() {
      closing = true;
      const ended = new Promise<void>((resolve) => (allEnded = resolve));
      for (const ofVisitor of running.values()) for (const end of ofVisitor) end();
      if (running.size > 0) await ended;
      await news.close();
    },
  };
}
