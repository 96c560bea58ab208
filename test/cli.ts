import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { testSecretKey } from './harness.ts';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
  /** stdout as the one JSON object it must then be. */
  // oxlint-disable-next-line typescript/no-explicit-any
  json: any;
}

export const cliFile = join(import.meta.dirname, '../server/cli.ts');

/** The real command line in a process of its own, knowing nothing but this environment. */
export function inbox(args: string[], env: Record<string, string>): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [cliFile, ...args],
      { env: { PATH: process.env['PATH'], ...env }, timeout: 60_000, maxBuffer: 2 ** 26 },
      (_error, stdout, stderr) =>
        resolve({
          code: child.exitCode ?? -1,
          stdout,
          stderr,
          get json() {
            return JSON.parse(stdout);
          },
        }),
    );
  });
}

export const onDatabase = (url: string): Record<string, string> => ({
  DATABASE_URL: url,
  INBOX_SECRET_KEY: testSecretKey,
});

/** The command line on one database. */
export function cliOn(url: string): (...args: string[]) => Promise<Ran> {
  return (...args) => inbox(args, onDatabase(url));
}
