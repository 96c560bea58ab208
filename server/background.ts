import type { Context } from './context.ts';
import { rollUpDays } from './conversations/days.ts';
import { reopenDueSnoozes } from './conversations/snooze.ts';
import { rollUpCounts } from './counts/counts.ts';
import { keepPartitions } from './events/partitions.ts';
import { sweepIdempotencyKeys } from './http/idempotency.ts';
import { sweepRateWindows } from './http/rate-limit.ts';
import { type Loop, startLoop } from './queue/loop.ts';
import { hearOfWork } from './queue/relay.ts';
import { startDispatchWorker } from './connectors/dispatch/worker.ts';
import { syncDueTemplates } from './connectors/templates/sync.ts';
import { startDeliveryWorker } from './webhooks/delivery/worker.ts';

interface Task {
  name: string;
  everyMs: number;
  run: (ctx: Context) => Promise<unknown>;
}

/** What happens without a request. Every task may run in any number of processes at once. */
const tasks: Task[] = [
  { name: 'reopen due snoozes', everyMs: 500, run: reopenDueSnoozes },
  { name: 'roll up counts', everyMs: 500, run: ({ db }) => rollUpCounts(db) },
  { name: 'roll up days', everyMs: 1_000, run: ({ db }) => rollUpDays(db) },
  { name: 'forget old rate windows', everyMs: 60_000, run: sweepRateWindows },
  { name: 'forget old idempotency keys', everyMs: 60_000, run: sweepIdempotencyKeys },
  { name: 'sync templates', everyMs: 5_000, run: syncDueTemplates },
  { name: 'keep partitions', everyMs: 600_000, run: keepPartitions },
];

/** Starts the tasks; the returned function lets the ones under way finish and starts no other. */
export function startBackground(ctx: Context): () => Promise<void> {
  const workers = [startDeliveryWorker(ctx), startDispatchWorker(ctx)];
  const wakeAll = () => workers.forEach(({ wake }) => wake());
  const running = [
    ...workers,
    { stop: hearOfWork(ctx, wakeAll) },
    ...tasks.map((task) => startTask(ctx, task)),
  ];
  return async () => {
    await Promise.all(running.map(({ stop }) => stop()));
  };
}

/** A task that fails is said to fail once, not at every turn of an outage. */
function startTask(ctx: Context, { name, everyMs, run }: Task): Loop {
  let failing = false;
  const turn = async () => {
    await run(ctx);
    if (failing) ctx.log.info({ task: name }, 'a background task runs again');
    failing = false;
    return everyMs;
  };
  return startLoop(turn, (error) => {
    if (!failing) ctx.log.warn({ err: error, task: name }, 'a background task failed; it will run again');
    failing = true;
  });
}
