import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { createApp } from '../app.ts';
import { startBackground } from '../background.ts';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { createEgress } from '../egress/guard.ts';
import type { App } from '../http/route.ts';
import { createLog, logCrashes } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import { tellWorkers } from '../queue/relay.ts';
import { openDatabase, prepareDatabase } from '../runtime.ts';
import { type Run, runCluster, runForPrimary } from './cluster.ts';
import { checkTlsFiles, listen } from './listen.ts';
import { stopSignal } from './stop-signal.ts';
import { welcome } from './welcome.ts';

/** How long requests and background work under way may take to finish: with the rest, less than Docker's 10 s. */
const graceMs = 8_000;
const closeMs = 1_000;
/** Ctrl-C ends what we have started too, and that may be seen before the signal is. */
const signalMs = 50;
/** Idle connections are closed when the stop begins; one that was busy then is looked at again this often. */
const closeIdleEveryMs = 100;
/**
 * How far the heap may grow above what was alive in it before old objects are collected again. Left to itself V8 lets
 * 25 MB alive grow to 90 before it looks, because it could have gigabytes: over 100,000 deliveries resident memory
 * wandered between 233 and 296 MB, with this it stays at 227. Collecting takes 0.5 % of the processor instead of 0.3 %.
 */
const heapGrowingPercent = 100;

/** Runs the service until a signal ends it. */
export async function serve(config: Config): Promise<void> {
  checkTlsFiles(config);
  const log = createLog(config);
  logCrashes(log);
  if (config.allowHttpWebhooks) log.warn('INBOX_ALLOW_HTTP_WEBHOOKS is on: webhooks may go over plain HTTP');
  const stop = stopSignal(log);
  try {
    const database = await prepareDatabase(config, log);
    try {
      const onListening = (origin: string) => welcome(config, log, database, origin);
      const run = config.processes === 1 ? runProcess : runCluster;
      if (!stop.aborted) await run({ config, log, database, stop, onListening });
    } finally {
      await database.stop();
    }
  } catch (error) {
    await sleep(signalMs);
    if (!stop.aborted) {
      log.debug({ err: error }, 'the start failed');
      throw error;
    }
    log.info({ err: error }, 'it was told to stop before it was ready');
  } finally {
    setTimeout(() => process.exit(), 1_000).unref(); // whatever still holds the process
  }
}

/** Runs one process of several, on what the first one has prepared. */
export async function serveAsOneOfMany(config: Config): Promise<void> {
  const log = createLog(config);
  logCrashes(log);
  const stop = stopSignal(log);
  const database = { url: config.databaseUrl!, secretKey: config.secretKey! };
  await runForPrimary((onListening) => runProcess({ config, log, database, stop, onListening }));
}

/** One process: HTTP, background work, or both, as INBOX_ROLE says. */
async function runProcess({ config, log, database, stop, onListening }: Run): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${heapGrowingPercent}`);
  const ctx: Context = {
    ...(await openDatabase(config, log, database)),
    config,
    egress: createEgress(config),
    metrics: createMetrics({ ofProcess: true }),
    log,
  };
  try {
    const app = await createApp(ctx);
    const origin = await listen(app, config);
    const stopBackground = config.role === 'api' ? tellWorkers(ctx) : startBackground(ctx);
    try {
      await onListening(origin);
      if (!stop.aborted) await once(stop, 'abort');
    } finally {
      await Promise.all([finishRequests(app), within(graceMs, stopBackground())]);
    }
  } finally {
    await within(closeMs, ctx.db.close());
  }
}

/** Takes no new connection and answers what is under way. */
async function finishRequests(app: App): Promise<void> {
  const idle = setInterval(() => app.server.closeIdleConnections(), closeIdleEveryMs);
  const force = setTimeout(() => app.server.closeAllConnections(), graceMs);
  await app.close();
  clearInterval(idle);
  clearTimeout(force);
}

/** What takes longer is left behind: a delivery is sent again later, a silent database ends its sessions itself. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  const enough = new AbortController();
  await Promise.race([work, sleep(ms, undefined, enough)]);
  enough.abort();
}
