import { constants } from 'node:fs';
import { access, readdir, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Config } from '../../config.ts';
import { fail, type Finding, ok, reasonOf, warn } from './check.ts';

const leastFreeBytes = 2 ** 30;

export function checkNode(version: string): Finding {
  const least = packageJson.engines.node.replace('>=', '');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split('.').map(Number);
  const enough = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  return enough ? ok(version) : fail(`${version} is too old: ${least} or newer is needed`);
}

export async function checkDataDir({ databaseUrl, dataDir }: Config): Promise<Finding> {
  if (databaseUrl !== undefined) return ok('not used with DATABASE_URL');
  try {
    const { bavail, bsize } = await statfs(await writable(dataDir));
    const free = bavail * bsize;
    const detail = `${dataDir}, ${(free / 2 ** 30).toFixed(1)} GiB free`;
    return free < leastFreeBytes ? warn(`${detail}: make room`) : ok(detail);
  } catch (error) {
    return fail(`${dataDir} cannot be written (${reasonOf(error)}): set INBOX_DATA_DIR`);
  }
}

/** The directory itself, or the nearest one above in which it can be made. */
async function writable(path: string): Promise<string> {
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return path;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    return writable(dirname(path));
  }
}

export async function isNew(dataDir: string): Promise<boolean> {
  const files = await readdir(dataDir).catch(() => []);
  return files.length === 0;
}
