import { spawn } from 'node:child_process';
import { existsSync, openSync, readFileSync, truncateSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { atEnd, endProcess } from './clean-up.ts';

export const root = resolve(import.meta.dirname, '..');

export interface Service {
  origin: string;
  databaseUrl: string;
  /** From the start of the process until it took requests. */
  startMs: number;
  /** Resident memory of the server process itself, in MB. */
  memory(): number;
  /** Forgets what was logged so far: a run of an hour logs gigabytes. */
  trimLog(): void;
  stop(): Promise<void>;
}

/** The real service as its own process, on the data directory that `env` names. It logs to a file beside it. */
export async function startService(
  env: Record<string, string> & { INBOX_DATA_DIR: string },
): Promise<Service> {
  const logFile = `${env.INBOX_DATA_DIR}.stderr`;
  const log = openSync(logFile, 'a');
  const began = performance.now();
  const child = spawn(process.execPath, ['server/main.ts'], {
    cwd: root,
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', log],
    detached: true, // Ctrl-C is ours alone: this one is ended after its clients, or its database would stay
  });
  const stop = () => endProcess(child);
  atEnd(async () => {
    await stop();
    await endDatabase(env.INBOX_DATA_DIR);
  });
  let output = '';
  for await (const chunk of child.stdout!) {
    output += String(chunk);
    const found = /^inbox (?:worker )?ready on (\S+)$/m.exec(output);
    if (!found) continue;
    return {
      origin: new URL(found[1]!).origin,
      databaseUrl: `postgresql://inbox@localhost/inbox?host=${join(env.INBOX_DATA_DIR, 'postgres')}`,
      startMs: performance.now() - began,
      memory: () => residentMemory(child.pid!),
      trimLog: () => truncateSync(logFile),
      stop,
    };
  }
  throw new Error(`the service did not start: ${readFileSync(logFile, 'utf8').slice(-2_000)}`);
}

/** The service leaves it running where someone has a session: on Ctrl-C that is one of ours, in the middle of a query. */
async function endDatabase(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  if (!existsSync(file)) return;
  process.kill(Number.parseInt(readFileSync(file, 'utf8'), 10), 'SIGINT'); // a fast shutdown, which waits for nobody
  while (existsSync(file)) await sleep(50);
}

export function residentMemory(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

export async function withDatabase<T>(
  { databaseUrl }: Pick<Service, 'databaseUrl'>,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
