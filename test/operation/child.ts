import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPostmaster } from '../../server/db/embedded-server.ts';
import { eventually } from '../factory.ts';
import { atEnd, type Client, clientFor, testSecretKey } from '../harness.ts';

/** The service as an operator runs it: a process of its own, seen through its output, its port and its exit code. */
export interface Child {
  /** Of the process started, which below npm is npm. */
  pid: number;
  stdout(): string;
  stderr(): string;
  /** The JSON lines of stderr. */
  logs(): LogLine[];
  signal(name: NodeJS.Signals): void;
  /** To the whole process group, as a terminal does on Ctrl-C. */
  signalGroup(name: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

export interface Running extends Child {
  origin: string;
  baseUrl: string;
  request: Client;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface LogLine extends Record<string, unknown> {
  level: number;
  pid: number;
  msg: string;
}

export type Environment = Record<string, string>;

/** Far above what anything takes: the machine may be busy with other things. */
export const longMs = 60_000;

const root = resolve(import.meta.dirname, '../..');
const groups = new Set<number>();
process.on('exit', () => groups.forEach(killGroup));

/** `npm: true` runs it as `npm start`. */
export function launch(env: Environment, { npm = false } = {}): Child {
  const [command, args] = npm ? ['npm', ['start']] : [process.execPath, ['server/main.ts']];
  const spawned = spawn(command, args, {
    cwd: root,
    env: { ...surroundings(), PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a process group of its own, to be ended as a whole
  });
  const pid = spawned.pid!;
  groups.add(pid);
  let stdout = '';
  let stderr = '';
  spawned.stdout.on('data', (chunk) => (stdout += String(chunk)));
  spawned.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const closed = once(spawned, 'close');
  const ended = once(spawned, 'exit').then(async ([code, signal]): Promise<Ended> => {
    await Promise.race([closed, sleep(1_000)]); // the rest of its output, unless a process left behind holds it
    return { code, signal };
  });
  atEnd(async () => {
    killGroup(pid);
    await ended;
  });
  return {
    pid,
    stdout: () => stdout,
    stderr: () => stderr,
    logs: () => jsonLines(stderr),
    signal: (name) => void process.kill(pid, name),
    signalGroup: (name) => void process.kill(-pid, name),
    ended,
  };
}

/** Returns when it says that it is ready. */
export const start = (env: Environment, options: { npm?: boolean } = {}): Promise<Running> =>
  ready(launch(env, options));

export async function ready(child: Child): Promise<Running> {
  let ended = false;
  void child.ended.then(() => (ended = true));
  const line = await eventually(
    longMs,
    async () => /^inbox (?:worker )?ready on (\S+)$/m.exec(child.stdout()),
    (found) => found !== null || ended,
  );
  assert.ok(line, `it ended: ${child.stderr()}`);
  const { origin } = new URL(line[1]!);
  return { ...child, origin, baseUrl: `${origin}/v1`, request: clientFor(`${origin}/v1`) };
}

/** Ends it with SIGTERM and insists on a clean end. */
export async function stop(child: Child): Promise<void> {
  child.signal('SIGTERM');
  assert.deepEqual(await child.ended, { code: 0, signal: null }, child.stderr());
}

/** A start that must fail with one clear line and this exit code. Returns the line. */
export async function refused(env: Environment, exitCode: number): Promise<string> {
  const child = launch({ INBOX_LOG_LEVEL: 'error', ...env });
  const { code } = await child.ended;
  assert.match(child.stderr(), /^inbox: [^\n]+\n$/);
  assert.equal(code, exitCode, child.stderr());
  assert.equal(child.stdout(), '');
  return child.stderr().trim();
}

export function external(databaseUrl: string): Environment {
  return { DATABASE_URL: databaseUrl, INBOX_SECRET_KEY: testSecretKey };
}

/** A directory for an embedded database; what still runs there at the end of the file is ended. */
export function temporaryDataDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'inbox-operation-'));
  atEnd(async () => {
    const postmaster = await findPostmaster(join(dir, 'postgres'));
    if (postmaster) {
      process.kill(postmaster.pid, 'SIGQUIT');
      await gone(postmaster.pid);
    }
    await rm(dir, { recursive: true, force: true });
  });
  return dir;
}

/** undefined: it does not run. */
export async function postmasterPid(dataDir: string): Promise<number | undefined> {
  return (await findPostmaster(join(dataDir, 'postgres')))?.pid;
}

export async function gone(pid: number): Promise<void> {
  await eventually(
    longMs,
    async () => isAlive(pid),
    (alive) => !alive,
  );
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // Where nothing collects orphans, as in many containers, a dead one stays in the table.
  return !/^State:\s+Z/m.test(readProc(`/proc/${pid}/status`));
}

function readProc(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // nothing of it is left
  }
}

function jsonLines(text: string): LogLine[] {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return whole.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine);
}

/** Of the environment of the tests only what any process needs. */
function surroundings(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, TMPDIR, npm_config_update_notifier: 'false' };
}
