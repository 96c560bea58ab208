// One at a time: of all Inbox processes of a data directory only one starts or stops its PostgreSQL.
import { DatabaseSync } from 'node:sqlite';
import { codeOf, createPrivate, messageOf } from './embedded-place.ts';
import { patience } from './embedded-server.ts';

const SQLITE_BUSY = 5;

/**
 * Runs work while no other process (or call) does so for the same file. SQLite's lock is the kernel's: it goes
 * away with its process however that dies, so there are no stale locks and no reused pids to reason about.
 */
export async function withLock<T>(
  file: string,
  log: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  await createPrivate(file);
  const database = openLock(file);
  try {
    const wait = patience(log, 'another Inbox process is still starting or stopping PostgreSQL');
    for (;;) {
      try {
        database.exec('BEGIN EXCLUSIVE');
        break;
      } catch (error) {
        if (codeOf(error) !== SQLITE_BUSY) throw error;
        await wait(20);
      }
    }
    return await work();
  } finally {
    database.close();
  }
}

function openLock(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { timeout: 0 });
  } catch (error) {
    throw new Error(`cannot open ${file}: ${messageOf(error)}`, { cause: error });
  }
}
