import { writeSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';

const heldMs = 100;
const mostHeld = 16 * 1024;
const warning = 40;

/**
 * JSON lines on stderr. Those that only tell of a request are held for a moment and written together; from a warning on
 * they are written at once, with all before them: the last words of a dying process are the ones that matter. (Pino's own
 * destination ends each flush with an fsync: into a file, that was a quarter of the service's time.)
 */
export function createLog({ logLevel }: Pick<Config, 'logLevel'>): Logger {
  let held = '';
  const flush = () => {
    const lines = held;
    held = '';
    if (lines !== '') writeWhole(2, Buffer.from(lines));
  };
  const destination = {
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0, // pino sets it before each line
    write(line: string) {
      held += line;
      if (held.length > mostHeld || this.lastLevel >= warning) flush();
    },
  };
  setInterval(flush, heldMs).unref();
  process.on('exit', flush);
  return pino({ level: logLevel, serializers: { err: describe } }, destination);
}

/** A pipe whose reader is slow takes no more for a moment; one whose reader has gone takes nothing ever again. */
function writeWhole(fd: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      if ((error as { code?: string }).code !== 'EAGAIN') return;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
}

const pause = new Int32Array(new SharedArrayBuffer(4));

/** A defect, or a machine at its end. The process goes, in one structured line; whoever runs it starts it again. */
export function logCrashes(log: Logger): void {
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'the process ends on an error nobody handled');
    process.exit(1);
  });
}

/** PostgreSQL's errors quote whole rows (`detail`, `where`), which hold what customers wrote: these fields do not. */
function describe(error: Error & { code?: unknown; constraint?: unknown; table?: unknown }) {
  const { name, message, code, table, constraint, stack } = error;
  return { type: name, message, code, table, constraint, stack };
}
