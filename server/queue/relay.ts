import type { Context } from '../context.ts';
import { statement } from '../db/client.ts';

const channel = 'inbox_work';
/** The queues of the workers. */
const topics = ['deliveries', 'outgoing'];
const quietMs = 10;

const notify = statement<{ sent: unknown }>('queue.notify', `select pg_notify('${channel}', '') as sent`);

/**
 * In a process that takes requests and delivers nothing: tells the workers elsewhere that there is work. After the commit
 * and gathered, never inside the transaction: NOTIFY makes commits wait for each other.
 */
export function tellWorkers({ db, log }: Context): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      db.alone.query(notify, []).catch((error: unknown) => {
        log.warn({ err: error }, 'workers were not told of new work; they look for it by themselves');
      });
    }, quietMs);
  };
  const unsubscribe = topics.map((topic) => db.subscribe(topic, tell));
  return async () => {
    for (const stop of unsubscribe) stop();
    clearTimeout(timer);
  };
}

/** In a worker: `wake` is called when another process has committed work. */
export function hearOfWork({ db }: Context, wake: () => void): () => Promise<void> {
  return db.listen(channel, wake);
}
