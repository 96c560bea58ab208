import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { exitCodeOf, explain, Failure } from '../exit.ts';
import { answerMetricsOfWorkers } from '../metrics.ts';
import type { Database } from '../runtime.ts';

const restartDelayMs = 1_000;

export interface Run {
  config: Config;
  log: Logger;
  database: Pick<Database, 'url' | 'secretKey'>;
  stop: AbortSignal;
  onListening(origin: string): Promise<void>;
}

/** What one of the processes tells the one that started it. */
type Told = { ready: string } | { failed: string; exitCode: number };

/** N processes share the port. One that dies is replaced; one that cannot start in the beginning ends the service. */
export async function runCluster({ config, log, database, stop, onListening }: Run): Promise<void> {
  // Each process accepts for itself. Handed out in turn, a connection on its way to a process that is killed stays
  // open in this one and nobody ever answers it.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: join(import.meta.dirname, '../main.ts'), args: [] });
  answerMetricsOfWorkers();
  const env = { DATABASE_URL: database.url, INBOX_SECRET_KEY: database.secretKey };
  const allReady = Promise.withResolvers<string>();
  const ready = new Set<number>();
  let beginning = true;
  let stopping = false;

  const spawn = () => {
    const worker = cluster.fork(env);
    let failure = new Failure('A process ended before it was ready', 1);
    worker.on('error', (error) => log.warn({ err: error }, 'a process could not be told something'));
    worker.on('message', (told: Told) => {
      if ('failed' in told) failure = new Failure(told.failed, told.exitCode);
      if (!('ready' in told)) return;
      ready.add(worker.id);
      if (ready.size === config.processes) allReady.resolve(told.ready);
    });
    worker.once('exit', (code, signal) => {
      const wasReady = ready.delete(worker.id);
      if (stopping) return;
      if (beginning && !wasReady) return allReady.reject(failure);
      const reason = wasReady ? {} : { reason: failure.message };
      log.error({ code, signal, pid: worker.process.pid, ...reason }, 'a process died and is replaced');
      void sleep(restartDelayMs).then(() => stopping || spawn());
    });
  };

  for (let count = 0; count < config.processes; count++) spawn();
  try {
    const told = once(stop, 'abort');
    const origin = await Promise.race([allReady.promise, told.then(() => undefined)]);
    beginning = false;
    if (origin !== undefined) await onListening(origin);
    await told;
  } finally {
    stopping = true;
    await Promise.all(Object.values(cluster.workers ?? {}).map(end));
  }
}

async function end(worker: Worker | undefined): Promise<void> {
  if (!worker || worker.isDead()) return;
  const gone = new Promise((resolve) => worker.once('exit', resolve));
  worker.process.kill('SIGTERM');
  await gone;
}

/** In one of the processes: why it could not start is said once, by the one that started them all. */
export async function runForPrimary(work: (onListening: Run['onListening']) => Promise<void>): Promise<void> {
  const tell = (told: Told) =>
    new Promise<void>((resolve) => {
      process.send!(told, () => resolve()); // an error is a primary that is gone, and this process with it
    });
  try {
    await work((origin) => tell({ ready: origin }));
    process.exit(0);
  } catch (error) {
    await tell({ failed: explain(error), exitCode: exitCodeOf(error) });
    process.exit(exitCodeOf(error));
  }
}
