// As which user the built-in PostgreSQL runs: as ours, unless that is root. PostgreSQL refuses to be root.
import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';

export interface ServerUser {
  uid: number;
  gid: number;
  name: string;
}

export const isRoot = (): boolean => process.getuid?.() === 0;

/**
 * Undefined: as the user we are. For root it is the owner of the first of these directories that belongs to an
 * ordinary user, who can then go on without root, else postgres or nobody.
 */
export async function serverUser(dirs: string[]): Promise<ServerUser | undefined> {
  if (!isRoot()) return undefined;
  const users = (await passwd()).filter(({ uid }) => uid !== 0);
  const owners = await Promise.all(dirs.map(async (dir) => (await stat(dir)).uid));
  const owner = owners
    .map((uid) => users.find((user) => user.uid === uid))
    .find((user) => user !== undefined);
  const named = (wanted: string): ServerUser | undefined => users.find(({ name }) => name === wanted);
  const user = owner ?? named('postgres') ?? named('nobody');
  if (user === undefined) {
    throw new Error('PostgreSQL cannot run as root and there is no user "postgres" or "nobody" to run it as');
  }
  return user;
}

/** Options for spawn: the server's user (its other groups are dropped with it), and nothing of our environment. */
export function as(user: ServerUser | undefined): {
  uid?: number;
  gid?: number;
  cwd: string;
  env: NodeJS.ProcessEnv;
} {
  // Ours may be a directory that the user cannot enter, and PG* variables that mean something else.
  const surroundings = { cwd: '/', env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' } };
  return user === undefined ? surroundings : { ...surroundings, uid: user.uid | 0, gid: user.gid | 0 };
}

/** Asked of the system rather than computed from modes, which know nothing of ACLs. */
export async function canEnter(user: ServerUser | undefined, dir: string): Promise<boolean> {
  return new Promise((done) => {
    execFile('/bin/sh', ['-c', 'cd -- "$1"', 'sh', dir], as(user), (error) => done(error === null));
  });
}

async function passwd(): Promise<ServerUser[]> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n');
  return lines.map((line) => {
    const [name = '', , uid, gid] = line.split(':');
    return { name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }; // macOS writes nobody as -2
  });
}

export async function nameOf(uid: number): Promise<string> {
  return (await passwd()).find((user) => user.uid === uid)?.name ?? String(uid);
}

export function ourName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.()); // no entry in passwd, as in many containers
  }
}
