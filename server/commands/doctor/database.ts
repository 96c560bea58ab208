import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Config } from '../../config.ts';
import { listMigrations } from '../../db/migrate.ts';
import { createVault } from '../../vault.ts';
import { type Check, fail, type Finding, ok, reasonOf, warn } from './check.ts';

const leastMajor = 16;
const slowMs = 50;
const warnSkewMs = 1_000;
const failSkewMs = 60_000;
const manyDeltas = 100_000;

export async function checkDatabase(url: string, config: Config): Promise<Check[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'inbox doctor',
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
    options: '-c timezone=UTC -c default_transaction_read_only=on',
  });
  client.on('error', () => {}); // the query under way fails with it
  await client.connect();
  try {
    const checks: Check[] = [];
    for (const [name, check] of Object.entries(ofServer))
      checks.push(await attempt(name, check(client, config)));
    if (checks.at(-1)!.status === 'fail') return checks; // without its tables there is nothing more to look at
    for (const [name, check] of Object.entries(ofTables))
      checks.push(await attempt(name, check(client, config)));
    return checks;
  } finally {
    await client.end();
  }
}

type Checker = (client: pg.Client, config: Config) => Promise<Finding>;

const ofServer: Record<string, Checker> = {
  database: checkLatency,
  'server version': checkVersion,
  durability: checkDurability,
  extensions: checkExtensions,
  clock: checkClock,
  migrations: checkMigrations,
};
const ofTables: Record<string, Checker> = { 'secret key': checkSecretKey, totals: checkCounts };

async function attempt(name: string, finding: Promise<Finding>): Promise<Check> {
  try {
    return { name, ...(await finding) };
  } catch (error) {
    return { name, ...fail(`could not be checked: ${reasonOf(error)}`) };
  }
}

async function checkLatency(client: pg.Client): Promise<Finding> {
  const started = performance.now();
  await client.query('select 1');
  const ms = performance.now() - started;
  const detail = `reachable, answers in ${ms.toFixed(1)} ms`;
  return ms > slowMs ? warn(`${detail}: every request waits for that several times`) : ok(detail);
}

async function checkVersion(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ version: string; number: number }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number`,
  );
  const { version, number } = rows[0]!;
  return number >= leastMajor * 10_000
    ? ok(`PostgreSQL ${version}`)
    : fail(`PostgreSQL ${version} is too old: ${leastMajor} or newer is needed`);
}

async function checkDurability(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ name: string }>(
    `select name from pg_settings
     where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'`,
  );
  if (rows.length === 0) return ok('fsync, full_page_writes and synchronous_commit are on');
  const names = rows.map(({ name }) => name).join(', ');
  return fail(`${names} off: acknowledged writes may be lost, and the service refuses to start`);
}

async function checkExtensions(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ name: string; installed: boolean }>(
    `select name, installed_version is not null as installed from pg_available_extensions
     where name in ('pg_trgm', 'btree_gin')`,
  );
  const lacking = ['pg_trgm', 'btree_gin'].filter((wanted) => !rows.some(({ name }) => name === wanted));
  if (lacking.length > 0) {
    return fail(`${lacking.join(', ')} not available: install PostgreSQL's contrib package`);
  }
  return rows.every(({ installed }) => installed)
    ? ok('pg_trgm, btree_gin')
    : warn('available, not created yet: run migrate');
}

/** The database's clock decides; a process far from it makes ids that sort wrongly and logs that mislead. */
async function checkClock(client: pg.Client): Promise<Finding> {
  const before = Date.now();
  const { rows } = await client.query<{ ms: number }>(
    `select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`,
  );
  const skewMs = Math.round(Math.abs(rows[0]!.ms - (before + Date.now()) / 2));
  if (skewMs < warnSkewMs) return ok(`${skewMs} ms apart from the database`);
  const detail = `${skewMs} ms apart from the database: set both by NTP`;
  return skewMs < failSkewMs ? warn(detail) : fail(detail);
}

async function checkMigrations(client: pg.Client): Promise<Finding> {
  const { rows: tables } = await client.query(`select where to_regclass('schema_migrations') is not null`);
  const { rows } =
    tables.length === 0
      ? { rows: [] }
      : await client.query<{ version: number }>('select version from schema_migrations');
  const applied = new Set(rows.map(({ version }) => version));
  const known = await listMigrations();
  const missing = known.filter(({ version }) => !applied.has(version)).map(({ file }) => file);
  if (missing.length > 0) return fail(`${missing.join(', ')} missing: run migrate`);
  if (applied.size > known.length) {
    return warn('the database is newer than this version of the service: update it');
  }
  return ok(`all ${known.length} applied`);
}

async function checkSecretKey(client: pg.Client, config: Config): Promise<Finding> {
  const { rows } = await client.query<{ sealed: Buffer }>('select sealed from secret_key_check');
  const [check] = rows;
  if (check === undefined) return ok('nothing is encrypted yet');
  const file = join(config.dataDir, 'secret.key');
  const secretKey = config.secretKey ?? (await readFile(file, 'utf8').catch(() => '')).trim();
  if (secretKey === '') return fail(`${file} cannot be read: restore it, or set INBOX_SECRET_KEY`);
  try {
    createVault(secretKey).open(check.sealed);
    return ok('the one this database was encrypted with');
  } catch {
    return fail('not the one this database was encrypted with: set INBOX_SECRET_KEY to that one');
  }
}

async function checkCounts(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<{ n: number }>(
    `select count(*)::int as n from (select from count_deltas limit ${manyDeltas}) unfolded`,
  );
  const { n } = rows[0]!;
  if (n < manyDeltas) return ok(`${n} changes not folded in yet`);
  return warn(
    `${n} or more changes not folded in: exact but slow, run a process with INBOX_ROLE all or worker`,
  );
}
