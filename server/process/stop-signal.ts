import type { Logger } from 'pino';

/** Longer than anything a stop waits for. PostgreSQL that takes longer to shut down does so on its own. */
const patienceMs = 20_000;

/**
 * Aborted by the first SIGTERM or SIGINT. Ctrl-C below npm arrives twice, once from the terminal and once from npm:
 * the second one means nothing. (SIGHUP is left alone, for nohup.)
 */
export function stopSignal(log: Logger): AbortSignal {
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) return;
    log.info({ signal: name }, 'stopping');
    controller.abort();
    setTimeout(() => {
      log.error('something did not end in time: the process ends without it');
      process.exit(1);
    }, patienceMs).unref();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return controller.signal;
}
