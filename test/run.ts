import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../server/db/embedded.ts';
import { migrate } from '../server/db/migrate.ts';

/**
 * npm test [-- file ...]: one PostgreSQL for the run, one migrated template, and every test file on databases of its
 * own copied from it. With DATABASE_URL set the run uses that server instead of an embedded one. With --slow (npm run
 * test:slow) it runs what needs minutes, *.slow.ts, and nothing else.
 */
const root = resolve(import.meta.dirname, '..');
const options = process.argv.slice(2);
const slow = options.includes('--slow');
const flags = options.filter((option) => option.startsWith('-') && option !== '--slow');
const named = options.filter((option) => !option.startsWith('-'));
const every = [`{server,test,emulator}/**/*.${slow ? 'slow' : 'test'}.ts`];
const files = globSync(named.length > 0 ? named : every, { cwd: root });
if (files.length === 0) throw new Error(`no test file is named ${named.join(' ')}`);
/** One more than there are processors: many tests wait for a process to start or a time to pass. */
const atOnce = availableParallelism() + 1;
/** Scratch space of this run, gone with it. */
const folder = await mkdtemp(join(tmpdir(), 'inbox-test-'));
const template = `inbox_template_${randomBytes(4).toString('hex')}`;

process.exitCode = await withPostgres(async (adminUrl) => {
  const url = new URL(adminUrl);
  url.pathname = `/${template}`;
  await query(adminUrl, `create database ${template}`);
  try {
    await migrate(url.toString());
    return await runTests(adminUrl);
  } finally {
    await query(adminUrl, `drop database if exists ${template} with (force)`);
  }
});
await rm(folder, { recursive: true, force: true });

async function withPostgres(work: (adminUrl: string) => Promise<number>): Promise<number> {
  const external = process.env['DATABASE_URL'];
  if (external) return work(external);
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'data') });
  try {
    return await work(postgres.url.replace('@/', '@localhost/')); // the socket decides; `new URL` wants a host
  } finally {
    await postgres.stop();
  }
}

async function runTests(adminUrl: string): Promise<number> {
  const tests = spawn(process.execPath, ['--test', `--test-concurrency=${atOnce}`, ...flags, ...files], {
    cwd: root,
    stdio: 'inherit',
    env: {
      NODE_COMPILE_CACHE: join(folder, 'compiled'), // every file loads the service: 0.9 s of processor, not 1.4 s
      ...cleanEnvironment(),
      INBOX_TEST_ADMIN_URL: adminUrl,
      INBOX_TEST_TEMPLATE: template,
    },
  });
  const forward = (signal: NodeJS.Signals) => tests.kill(signal);
  process.on('SIGINT', forward);
  process.on('SIGTERM', forward);
  const [code] = (await once(tests, 'exit')) as [number | null];
  return code ?? 1;
}

/** The tests see what they set themselves, not what the shell happens to hold. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(INBOX_|PG|PORT$|HOST$|DATABASE_URL$)/.test(name),
  );
  return Object.fromEntries(kept);
}

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
