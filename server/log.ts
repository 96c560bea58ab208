import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';

/** JSON lines on stderr, written at once: the last words of a dying process are the ones that matter. */
export function createLog({ logLevel }: Pick<Config, 'logLevel'>): Logger {
  return pino({ level: logLevel, serializers: { err: describe } }, pino.destination({ dest: 2, sync: true }));
}

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
