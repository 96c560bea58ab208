import { randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from './config.ts';
import { withLock } from './db/embedded-lock.ts';

/**
 * The secret key of an embedded database: made once beside it, readable by its owner alone. Under a lock and with a
 * rename, so that neither a second process nor a crash ever finds half a key.
 */
export function keptSecretKey(dataDir: string): Promise<string> {
  const file = join(dataDir, 'secret.key');
  return withLock(
    join(dataDir, 'secret.lock'),
    () => {},
    async () => {
      const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        return create(file);
      });
      if (kept.trim().length < 32) throw new ConfigError(`${file} is damaged: put it back from a backup`);
      return kept.trim();
    },
  );
}

async function create(file: string): Promise<string> {
  const key = randomBytes(32).toString('base64');
  const handle = await open(`${file}.new`, 'w', 0o600);
  try {
    await handle.writeFile(`${key}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
  return key;
}
