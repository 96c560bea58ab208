import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';

const folder = join(import.meta.dirname, '../../migrations');
const lockId = 4_716_230_011; // any number no one else uses on this database

export interface Migration {
  version: number;
  name: string;
  file: string;
}

export async function listMigrations(): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}_\w+\.sql$/.test(file)).toSorted();
  return files.map((file) => ({ version: Number(file.slice(0, 4)), name: file.slice(5, -4), file }));
}

/**
 * Applies what is missing, one transaction a file, under a lock that every starting process waits for.
 * A process killed in the middle leaves whole files applied and nothing else.
 */
export async function migrate(
  url: string,
  onApply: (migration: Migration) => void = () => {},
): Promise<number> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'inbox migrate',
    connectionTimeoutMillis: 5_000,
  });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [lockId]);
    await client.query(`create table if not exists schema_migrations (
      version int primary key, name text not null, applied_at timestamptz not null default clock_timestamp())`);
    const { rows } = await client.query<{ version: number }>('select version from schema_migrations');
    const applied = new Set(rows.map((row) => row.version));
    const missing = (await listMigrations()).filter(({ version }) => !applied.has(version));
    for (const migration of missing) {
      const sql = await readFile(join(folder, migration.file), 'utf8');
      await client.query('begin');
      await client.query(sql);
      await client.query('insert into schema_migrations (version, name) values ($1, $2)', [
        migration.version,
        migration.name,
      ]);
      await client.query('commit');
      onApply(migration);
    }
    return missing.length;
  } finally {
    await client.end();
  }
}
