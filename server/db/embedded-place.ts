// Where the built-in PostgreSQL keeps its files: in the data directory if the user it runs as can reach that.
import { createHash } from 'node:crypto';
import { constants, writeFileSync } from 'node:fs';
import {
  access,
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { PORT } from './embedded-settings.ts';
import type { ServerUser } from './embedded-user.ts';
import { canEnter, isRoot, nameOf, ourName, serverUser } from './embedded-user.ts';

export interface Place {
  cluster: string;
  /** Undefined: the server runs as the user we are. */
  user: ServerUser | undefined;
  /** The cluster found there belonged to a data directory that has since been deleted. */
  forgotten: boolean;
}

/** For what an ordinary data directory cannot hold when we are root. */
export const SYSTEM_DIR = '/var/lib/inbox';

/** Makes the directory if need be; its real path. */
export async function prepareDataDir(dataDir: string): Promise<string> {
  const path = resolve(dataDir);
  try {
    await mkdir(dirname(path), { recursive: true });
    await mkdir(path, { mode: isRoot() ? 0o711 : 0o700 }).catch(async (error: unknown) => {
      if (codeOf(error) !== 'EEXIST' || !(await stat(path)).isDirectory()) throw error;
    });
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(path);
  } catch (error) {
    const reason = messageOf(error).replace(/,.*/s, '');
    const message = `cannot use data directory ${path} as user ${ourName()} (${reason}): set INBOX_DATA_DIR`;
    throw new Error(message, { cause: error });
  }
}

export async function findPlace(dataDir: string, log: (line: string) => void): Promise<Place> {
  const cluster = join(dataDir, 'postgres');
  if (await exists(cluster)) {
    const { uid } = await stat(cluster);
    if (!isRoot() && uid !== process.getuid?.()) {
      throw new Error(`${cluster} belongs to user ${await nameOf(uid)}, not to ${ourName()}`);
    }
    const user = await serverUser([cluster, dataDir]);
    if (user !== undefined && !(await letEnter(user, dataDir))) {
      throw new Error(
        `user ${user.name} cannot reach ${cluster}: let it pass (chmod o+x) the directories above`,
      );
    }
    return { cluster, user, forgotten: false };
  }

  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 12);
  const elsewhere = join(SYSTEM_DIR, name, 'postgres');
  const note = join(dataDir, 'postgres.location.txt');
  const noted = (await readFile(note, 'utf8').catch(() => '')).split('\n')[0] ?? '';
  if (noted !== '' && (noted !== elsewhere || !isRoot()) && (await exists(noted))) {
    // An empty database in its place would look as if everything was lost.
    throw new Error(
      `the database of ${dataDir} is in ${noted}: as root, move ${dirname(noted)} to ${dirname(elsewhere)} if this directory was moved, or delete ${note} to begin with an empty database`,
    );
  }
  const made = await exists(elsewhere);
  const user = await serverUser(made ? [elsewhere, dataDir] : [dataDir]);
  if (user === undefined || (!made && (await letEnter(user, dataDir))))
    return { cluster, user, forgotten: false };

  await makeSystemDir();
  await mkdir(dirname(elsewhere), { recursive: true });
  await chmod(dirname(elsewhere), 0o711); // whatever our umask
  const forgotten = made && noted === '' && !(await exists(join(dataDir, 'postgres.log')));
  const why = `the database of ${dataDir} is there because user ${user.name} cannot enter that directory`;
  await writeFile(note, `${elsewhere}\n${why}\n`, { mode: 0o600 });
  log(`${elsewhere}: ${why}`);
  return { cluster: elsewhere, user, forgotten };
}

export async function makeSystemDir(): Promise<void> {
  await mkdir(SYSTEM_DIR, { recursive: true });
  await chmod(SYSTEM_DIR, 0o755);
}

/** A directory for the server's socket that only its user can enter, and short enough for a socket address. */
export async function findSocketDir(
  cluster: string,
  user: ServerUser | undefined,
  short: boolean,
): Promise<string> {
  const longest = process.platform === 'darwin' ? 103 : 107;
  const fits = (dir: string): boolean => Buffer.byteLength(join(dir, `.s.PGSQL.${PORT}`)) <= longest;
  if (!short && fits(cluster)) return cluster;

  // The inode is part of the name because a server whose data directory was deleted may still sit in its own.
  const { ino } = await stat(cluster);
  const name = `inbox-pg-${createHash('sha256').update(`${cluster}:${ino}`).digest('hex').slice(0, 12)}`;
  const uid = user?.uid ?? process.getuid?.();
  for (const temp of ['/tmp', tmpdir()]) {
    let dir = join(temp, name);
    try {
      try {
        await mkdir(dir, { mode: 0o700 });
      } catch {
        const found = await lstat(dir);
        if (found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0) return dir;
        dir = await mkdtemp(`${dir}-`); // someone else sits on our name
      }
      if (user !== undefined) await chown(dir, user.uid, user.gid);
    } catch {
      continue;
    }
    if (fits(dir) && (await canEnter(user, dir))) return dir;
  }
  throw new Error(`no room for PostgreSQL's socket: ${cluster} is too long a path and /tmp cannot be used`);
}

/** An empty file of mode 0600 that the owner of the directory can use later, too, should we be root now. */
export async function createPrivate(file: string): Promise<void> {
  try {
    writeFileSync(file, '', { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    throw error;
  }
  if (!isRoot()) return;
  const owner = await stat(dirname(file));
  await chown(file, owner.uid, owner.gid);
}

export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Of a system call, of PostgreSQL (SQLSTATE) or of SQLite. */
export function codeOf(error: unknown): string | number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode;
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function letEnter(user: ServerUser, dir: string): Promise<boolean> {
  if (await canEnter(user, dir)) return true;
  const { uid, mode } = await stat(dir);
  if (uid !== 0 || !(await canEnter(user, dirname(dir)))) return false;
  await chmod(dir, (mode & 0o7777) | 0o001);
  return canEnter(user, dir);
}
