// The PostgreSQL process itself: creating its cluster, starting it, recognising it, stopping it.
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  chmod,
  chown,
  copyFile,
  lchown,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  rmdir,
  stat,
  truncate,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeOf, findSocketDir, messageOf } from './embedded-place.ts';
import { PORT, settings } from './embedded-settings.ts';
import type { ServerUser } from './embedded-user.ts';
import { as } from './embedded-user.ts';

export interface Server {
  cluster: string;
  user: ServerUser | undefined;
  bin: string;
  major: string;
  logFile: string;
  log: (line: string) => void;
}

export interface Postmaster {
  pid: number;
  socketDir: string;
  status: string;
}

const LARGEST_LOG = 10 * 2 ** 20;

/** Made aside and renamed when finished, so that no crash leaves half a cluster under the real name. */
export async function createCluster(server: Server): Promise<void> {
  const { cluster, user } = server;
  const made = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (made !== undefined) {
    if (made.trim() !== server.major) {
      throw new Error(
        `the database in ${cluster} was made by PostgreSQL ${made.trim()} and this is ${server.major}: dump it with the old version and restore it into a new INBOX_DATA_DIR`,
      );
    }
    return secure(server);
  }
  if ((await readdir(cluster).catch(() => [])).length > 0) {
    throw new Error(`${cluster} is not empty and not a PostgreSQL database: move it away`);
  }

  const parent = dirname(cluster);
  const prefix = `${basename(cluster)}.unfinished-`;
  for (const name of await readdir(parent)) {
    // Should the initdb of a killed start still be writing there, a later start removes the rest.
    if (name.startsWith(prefix))
      await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
  }
  const unfinished = join(parent, `${prefix}${randomUUID()}`);
  server.log(`creating a database in ${cluster}`);
  await mkdir(unfinished, { mode: 0o700 });
  if (user !== undefined) await chown(unfinished, user.uid, user.gid);
  const options = `--username=inbox --auth-local=trust --auth-host=reject --encoding=UTF8 --locale=C
    --locale-provider=builtin --builtin-locale=C.UTF-8 --no-instructions`.split(/\s+/);
  try {
    await promisify(execFile)(join(server.bin, 'initdb'), [...options, '-D', unfinished], as(user));
    await rename(unfinished, cluster);
    const directory = await open(parent);
    await directory.sync();
    await directory.close();
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true }).catch(() => {});
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    throw new Error(`cannot create a database in ${cluster}: ${lastLines(stderr || messageOf(error))}`, {
      cause: error,
    });
  }
}

/** Returns when the server accepts connections, or when it turns out that another one is running. */
export async function launch(server: Server): Promise<void> {
  await trimLog(server.logFile);
  const wait = patience(server.log, 'processes of a crashed PostgreSQL are still running');
  const giveUpAt = Date.now() + 120_000;
  let elsewhere = false;
  let interruptions = 0;
  for (;;) {
    const socketDir = await findSocketDir(server.cluster, server.user, elsewhere);
    const failure = await tryLaunch(server, socketDir);
    if (failure === undefined || (await findPostmaster(server.cluster)) !== undefined) return;
    if (/could not create any Unix-domain sockets/.test(failure) && !elsewhere) {
      elsewhere = true; // some file systems, often those shared with a virtual machine, know no sockets
    } else if (
      /pre-existing shared memory block|lock file ".*" already exists/.test(failure) &&
      Date.now() < giveUpAt
    ) {
      await wait(100);
    } else if (/it ended with (code 0|SIG\w+)$/.test(failure) && interruptions < 3) {
      interruptions += 1; // someone stopped it, it did not fail
    } else {
      throw new Error(`PostgreSQL did not come up: ${lastLines(failure)} (see ${server.logFile})`);
    }
  }
}

/** The running server of this cluster. A pid file alone proves nothing: its number may be anyone's by now. */
export async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const lines = await pidFile(cluster);
  const pid = Number(lines[0]);
  if (!(pid > 0) || !(await isPostmaster(pid, cluster))) return undefined;
  return { pid, socketDir: lines[4] ?? '', status: lines[7]?.trim() || 'starting' };
}

export async function stopPostmaster(server: Server): Promise<void> {
  const postmaster = await findPostmaster(server.cluster);
  if (postmaster === undefined) return;
  try {
    process.kill(postmaster.pid, 'SIGINT'); // a fast shutdown, as pg_ctl's
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
  const wait = patience(server.log, 'PostgreSQL is still shutting down');
  while (await isPostmaster(postmaster.pid, server.cluster)) await wait(10);
  if (postmaster.socketDir !== server.cluster) await rmdir(postmaster.socketDir).catch(() => {});
}

/** The server's log with at most one predecessor. Truncating is safe: the server appends. */
export async function trimLog(file: string): Promise<void> {
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size <= LARGEST_LOG) return;
  await copyFile(file, `${file}.1`).catch(() => {}); // the disk may be full
  await truncate(file);
}

/** Sleeps that say now and then what they are waiting for. */
export function patience(log: (line: string) => void, what: string): (ms: number) => Promise<void> {
  let next = Date.now() + 10_000;
  return async (ms) => {
    if (Date.now() > next) {
      log(`${what}, waiting`);
      next = Date.now() + 10_000;
    }
    await sleep(ms);
  };
}

/** What the server logged if it ended before it was ready. */
async function tryLaunch(server: Server, socketDir: string): Promise<string | undefined> {
  const { cluster, user, logFile } = server;
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  const logged = await open(logFile, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    const { size } = await logged.stat();
    const surroundings = as(user);
    const child = spawn(
      join(server.bin, 'postgres'),
      [
        '-D',
        cluster,
        ...Object.entries(settings(socketDir)).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      {
        ...surroundings,
        // PostgreSQL takes any live process of that number for a rival, except its own grandparent.
        env: { ...surroundings.env, PG_GRANDPARENT_PID: await stalePid(cluster, socketDir) },
        detached: true, // a session of its own: Ctrl-C in our terminal is not for it
        stdio: ['ignore', logged.fd, logged.fd],
      },
    );
    child.unref();
    let ended: string | undefined;
    child.once('error', (error) => (ended = error.message));
    child.once('exit', (code, signal) => (ended = `it ended with ${signal ?? `code ${code}`}`));
    const wait = patience(server.log, 'PostgreSQL is not ready yet (after a crash it first recovers)');
    for (;;) {
      const postmaster = await findPostmaster(cluster);
      if (postmaster !== undefined && postmaster.pid === child.pid && postmaster.status === 'ready')
        return undefined;
      if (ended !== undefined) return `${(await readFile(logFile)).subarray(size).toString()}${ended}`;
      await wait(10);
    }
  } finally {
    await logged.close();
  }
}

/** The number left behind by a server that is gone; unreadable files of that kind are removed. */
async function stalePid(cluster: string, socketDir: string): Promise<string | undefined> {
  let stale: string | undefined;
  for (const file of [join(socketDir, `.s.PGSQL.${PORT}.lock`), join(cluster, 'postmaster.pid')]) {
    const pid = (await readFile(file, 'utf8').catch(() => undefined))?.split('\n')[0];
    if (pid === undefined) continue;
    if (Number(pid) > 0) stale = pid;
    else await rm(file, { force: true }); // PostgreSQL would refuse to start over an empty one
  }
  return stale;
}

async function pidFile(cluster: string): Promise<string[]> {
  return (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
}

async function isPostmaster(pid: number, cluster: string): Promise<boolean> {
  if (process.platform !== 'linux') {
    const ps = promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
    return (
      await ps.then(
        ({ stdout }) => stdout,
        () => '',
      )
    ).includes(`postgres -D ${cluster} -c `);
  }
  const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  // Not always the first word: emulators (Rosetta, QEMU) put themselves before it.
  if (!command.some((word) => basename(word) === 'postgres')) return false;
  if (command[command.indexOf('-D') + 1] === cluster) return true;
  // The directory was renamed, or the server started by hand. (In containers root may not look.)
  return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === cluster;
}

/** A copy or backup put back by root has the wrong owner or mode, and PostgreSQL insists on both. */
async function secure({ cluster, user }: Server): Promise<void> {
  const { uid, mode } = await stat(cluster);
  if (user !== undefined && uid !== user.uid) {
    for (const entry of await readdir(cluster, { recursive: true })) {
      await lchown(join(cluster, entry), user.uid, user.gid);
    }
    await chown(cluster, user.uid, user.gid); // last: it says that the rest is done
  }
  if ((mode & 0o077) !== 0) await chmod(cluster, 0o700);
}

/** The last lines, as one. */
function lastLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .slice(-4)
    .join(' | ');
}
