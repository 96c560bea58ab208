import { type Logger, pino } from 'pino';
import { type Config, readConfig } from '../config.ts';
import type { Db } from '../db/client.ts';
import { startEmbeddedPostgres } from '../db/embedded.ts';
import { openDatabase, prepareDatabase } from '../runtime.ts';

export interface Session {
  db: Db;
  databaseUrl: string;
}

/**
 * Runs a command on the database the environment names. The embedded one is adopted when it runs already, and stopped
 * afterwards only by the last who uses it.
 */
export async function withSession(work: (session: Session) => Promise<void>): Promise<void> {
  const config = readConfig(process.env);
  const log = commandLog(config);
  const database = await prepareDatabase(config, log);
  try {
    const { db } = await openDatabase(config, log, database);
    try {
      await work({ db, databaseUrl: database.url });
    } finally {
      await db.close();
    }
  } finally {
    await database.stop();
  }
}

/** The same database as it is: not migrated, not checked. */
export async function withBareDatabase<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  if (config.databaseUrl !== undefined) return work(config.databaseUrl);
  const log = commandLog(config);
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => log.info(line) });
  try {
    return await work(postgres.url);
  } finally {
    await postgres.stop();
  }
}

/** What the service would log, as plain lines: here a person reads along. */
export function commandLog({ logLevel }: Config): Logger {
  return pino(
    { level: logLevel, base: null, timestamp: false },
    {
      write(record: string) {
        const { msg, file, err } = JSON.parse(record) as {
          msg: string;
          file?: string;
          err?: { message: string };
        };
        const more = [file, err?.message].filter((part) => part !== undefined);
        process.stderr.write(`inbox: ${[msg, ...more].join(': ')}\n`);
      },
    },
  );
}
