import type { FastifyBaseLogger } from 'fastify';
import pg from 'pg';
import { type Config, ConfigError } from './config.ts';
import type { Context } from './context.ts';
import { type Db, isConnectionLoss, openDb, statement } from './db/client.ts';
import { startEmbeddedPostgres } from './db/embedded.ts';
import { listMigrations, migrate } from './db/migrate.ts';
import { keptSecretKey } from './secret-key.ts';
import { createVault, type Vault } from './vault.ts';

export interface Database {
  url: string;
  secretKey: string;
  embedded: boolean;
  stop(): Promise<void>;
}

/** The database this configuration names, running and migrated. */
export async function prepareDatabase(config: Config, log: FastifyBaseLogger): Promise<Database> {
  const database = config.databaseUrl
    ? externalDatabase(config, config.databaseUrl)
    : await embeddedDatabase(config, log);
  try {
    await migrate(database.url, ({ file }) => log.info({ file }, 'migrated'));
    await refuseNewerSchema(database.url);
    return database;
  } catch (error) {
    await database.stop();
    throw database.embedded || error instanceof ConfigError ? error : unusable(error, database.url);
  }
}

function externalDatabase(config: Config, url: string): Database {
  return { url, secretKey: config.secretKey!, embedded: false, stop: async () => {} };
}

async function embeddedDatabase(config: Config, log: FastifyBaseLogger): Promise<Database> {
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => log.info(line) });
  try {
    const secretKey = config.secretKey ?? (await keptSecretKey(config.dataDir));
    return { url: postgres.url, secretKey, embedded: true, stop: () => postgres.stop() };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

/** An old version knows nothing of what a newer one keeps true in its tables. */
async function refuseNewerSchema(url: string): Promise<void> {
  const known = (await listMigrations()).at(-1)?.version ?? 0;
  const client = new pg.Client({
    connectionString: url,
    application_name: 'inbox',
    connectionTimeoutMillis: 5_000,
  });
  await client.connect();
  try {
    const { rows } = await client.query<{ version: number }>(
      'select max(version) as version from schema_migrations',
    );
    const version = rows[0]?.version ?? 0;
    if (version > known) {
      throw new ConfigError(
        `The database has schema ${version} of a newer Inbox and this one knows ${known}: run the newer one`,
      );
    }
  } finally {
    await client.end();
  }
}

/** For transactions, of all processes together. PostgreSQL allows 100 in all, and there may be other services. */
const connections = 48;

/** A prepared database, opened: refused unless it keeps what it acknowledges and our key opens what it holds. */
export async function openDatabase(
  config: Config,
  log: FastifyBaseLogger,
  { url, secretKey }: Pick<Database, 'url' | 'secretKey'>,
): Promise<Pick<Context, 'db' | 'vault'>> {
  const db = openDb({
    url,
    poolSize: Math.max(2, Math.min(10, Math.floor(connections / config.processes))),
    onError: (error) => log.warn({ err: error }, 'a database connection was lost'),
  });
  try {
    await refuseUnsafeSettings(db);
    const vault = createVault(secretKey);
    await checkSecretKey(db, vault);
    return { db, vault };
  } catch (error) {
    await db.close();
    throw error;
  }
}

const durability = statement<{ name: string; setting: string }>(
  'runtime.durability',
  `select name, setting from pg_settings
   where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'`,
);

/** An acknowledged write must survive a crash: with one of these off it may not. */
async function refuseUnsafeSettings(db: Db): Promise<void> {
  const off = await db.query(durability, []);
  if (off.length > 0) {
    const names = off.map(({ name }) => name).join(', ');
    throw new ConfigError(`PostgreSQL runs with ${names} off and may lose acknowledged writes: turn it on`);
  }
}

const findCheck = statement<{ sealed: Buffer }>('runtime.find_check', `select sealed from secret_key_check`);
const insertCheck = statement<never>(
  'runtime.insert_check',
  `insert into secret_key_check (sealed) values ($1) on conflict do nothing`,
);

async function checkSecretKey(db: Db, vault: Vault): Promise<void> {
  let [row] = await db.query(findCheck, []);
  if (!row) {
    await db.transaction(async (tx) => tx.send(insertCheck, [vault.seal('inbox')]));
    [row] = await db.query(findCheck, []);
  }
  try {
    vault.open(row!.sealed);
  } catch {
    throw new ConfigError(
      'INBOX_SECRET_KEY (or secret.key in INBOX_DATA_DIR) is not the key this database was encrypted with',
    );
  }
}

/** One line for the operator. Without the URL, which holds a password. */
function unusable(error: unknown, url: string): Error {
  const { code, message } = error as { code?: string; message: string };
  if (code === 'ERR_INVALID_URL') return new ConfigError('DATABASE_URL is not a URL that can be read');
  const { host, port, database } = new pg.Client({ connectionString: url });
  const what = `The database ${database} at ${host}:${port}`;
  if (/^(28|3D)/.test(code ?? '')) return new ConfigError(`DATABASE_URL: ${what} refuses us: ${message}`);
  if (isConnectionLoss(error))
    return new Error(`${what} cannot be reached: ${message || code}`, { cause: error });
  return new Error(`${what} cannot be migrated: ${message}`, { cause: error });
}
