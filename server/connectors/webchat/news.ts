import type { Context } from '../../context.ts';
import { type Db, statement } from '../../db/client.ts';

/** Payload: whose browsers should look for something new, as the uuid of the contact or the key of the visitor. */
const newsChannel = 'inbox_webchat';

const notify = statement<{ sent: unknown }>(
  'webchat.notify',
  `select pg_notify('${newsChannel}', $1) as sent`,
);

/** After the commit: a NOTIFY inside a transaction would make all those that have one commit in turn. */
export async function tellBrowsers(db: Db, whom: string): Promise<void> {
  await db.alone.query(notify, [whom]);
}

export interface News {
  /** Calls back when there may be something new for one of these. Returns how to stop. */
  hear(whom: string, onNews: () => void): () => void;
  close(): Promise<void>;
}

/** One connection for each process, opened with the first stream, however many streams there are. */
export function createNews({ db }: Pick<Context, 'db'>): News {
  const listeners = new Map<string, Set<() => void>>();
  let stop: (() => Promise<void>) | undefined;

  function onNotice(whom?: string) {
    const concerned = whom === undefined ? listeners.values() : [listeners.get(whom) ?? []];
    for (const several of concerned) for (const onNews of several) onNews();
  }

  return {
    hear(whom, onNews) {
      stop ??= db.listen(newsChannel, onNotice);
      const several = listeners.get(whom) ?? new Set();
      listeners.set(whom, several.add(onNews));
      return () => {
        several.delete(onNews);
        if (several.size === 0 && listeners.get(whom) === several) listeners.delete(whom);
      };
    },
    async close() {
      await stop?.();
    },
  };
}
