import { ConfigError } from './config.ts';

/** Said in one line; ends the process with this code. */
export class Failure extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Ends the process as the work ended: 0, or one clear line on stderr and 2 for a bad environment, 1 for the rest. */
export async function exitWith(work: Promise<void>): Promise<void> {
  try {
    await work;
    process.exitCode = 0;
  } catch (error) {
    const line = explain(error);
    if (line) process.stderr.write(`inbox: ${line}\n`);
    process.exitCode = exitCodeOf(error);
  }
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return 2;
  return (error as { exitCode?: number }).exitCode ?? 1;
}

export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'EACCES') return `${path ?? message} cannot be read or written (${code})`;
  return (message || code || '').replaceAll(/\s*\n\s*/g, ' ');
}
