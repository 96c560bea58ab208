import { type LogFn, type Logger, pino } from 'pino';
import type { Config } from './config.ts';

const heldMs = 100;
const warning = 40;

/**
 * JSON lines on stderr. Those that only tell of a request are held for a moment and written together; from a warning on
 * they are written at once, with all before them: the last words of a dying process are the ones that matter.
 */
export function createLog({ logLevel }: Pick<Config, 'logLevel'>): Logger {
  const destination = pino.destination({ dest: 2, sync: true, minLength: 8 * 1024 });
  const flush = () => destination.flushSync();
  setInterval(flush, heldMs).unref();
  process.on('exit', flush);
  const hooks = {
    logMethod(this: Logger, args: Parameters<LogFn>, write: LogFn, level: number) {
      write.apply(this, args);
      if (level >= warning) flush();
    },
  };
  return pino({ level: logLevel, serializers: { err: describe }, hooks }, destination);
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
