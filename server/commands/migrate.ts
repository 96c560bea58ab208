import type { Command } from 'commander';
import pg from 'pg';
import { readConfig } from '../config.ts';
import { listMigrations } from '../db/migrate.ts';
import { prepareDatabase } from '../runtime.ts';
import { addCommand } from './command.ts';
import { print } from './output.ts';
import { commandLog, withBareDatabase } from './session.ts';

export function addMigrate(program: Command): void {
  addCommand(program, {
    name: 'migrate',
    summary: 'bring the database to the schema of this version',
    about: 'The service does so itself at every start. Safe to run at any time, also several at once.',
    example: 'migrate',
  }).action(async ({ json }: { json?: boolean }) => {
    const config = readConfig(process.env);
    const before = await withBareDatabase(config, async (url) => {
      const versions = await appliedVersions(url).catch(() => new Set<number>()); // what is wrong, the next line says
      const database = await prepareDatabase(config, commandLog(config));
      await database.stop();
      return versions;
    });
    const known = await listMigrations();
    const applied = known.filter(({ version }) => !before.has(version));
    const version = known.at(-1)?.version ?? 0;
    const done =
      applied.length === 0 ? 'nothing to do' : `applied ${applied.map(({ file }) => file).join(', ')}`;
    const resource = { version, applied: applied.map(({ version, name }) => ({ version, name })) };
    print(json, resource, `The database is at version ${version}: ${done}`);
  });
}

async function appliedVersions(url: string): Promise<Set<number>> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'inbox',
    connectionTimeoutMillis: 5_000,
  });
  await client.connect();
  try {
    const { rows } = await client.query<{ version: number }>('select version from schema_migrations');
    return new Set(rows.map(({ version }) => version));
  } finally {
    await client.end();
  }
}
