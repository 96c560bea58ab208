import { Counter, Gauge, Histogram } from '@prometheus-io/client';
import type { Context } from '../../context.ts';
import { statement } from '../../db/client.ts';
import { toId } from '../../ids.ts';
import type { Lanes } from '../../queue/lanes.ts';
import type { AttemptResult } from '../../egress/send.ts';

export interface DeliveryMetrics {
  attempt(result: AttemptResult): void;
  /** How many finished, and how many of those were still ours to record. */
  completed(finished: number, written: number): void;
  delivered(secondsSinceEvent: number): void;
  watch(lanes: Lanes): void;
}

const depth = statement<{ waiting: number; oldest_due_seconds: number | null }>(
  'deliveries.depth',
  `select count(*) as waiting,
     extract(epoch from clock_timestamp() - min(next_at) filter (where next_at <= clock_timestamp()))::float8
       as oldest_due_seconds
   from delivery_queue`,
);

const unknown = { waiting: Number.NaN, oldest_due_seconds: Number.NaN };

export function createDeliveryMetrics({
  metrics: { registry },
  db,
}: Pick<Context, 'metrics' | 'db'>): DeliveryMetrics {
  const registers = [registry];
  let watched: Lanes | undefined;
  const attempts = new Counter({
    name: 'inbox_webhook_attempts_total',
    help: 'Attempts to deliver, by what became of them.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const latency = new Histogram({
    name: 'inbox_webhook_delivery_seconds',
    help: 'From the commit of an event to its receipt.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600],
    registers,
  });
  const stale = new Counter({
    name: 'inbox_webhook_stale_completions_total',
    help: 'Attempts that ended after their lease had been given to another worker.',
    registers,
  });
  const oldest = new Gauge({
    name: 'inbox_webhook_oldest_due_seconds',
    help: 'How long the delivery that is due longest has been waiting.',
    registers,
    aggregator: 'max',
  });
  new Gauge({
    name: 'inbox_webhook_queue_depth',
    help: 'Deliveries waiting or under way.',
    registers,
    aggregator: 'max',
    async collect() {
      // One figure that cannot be had must not take the others with it, least of all when the database is away.
      const [row] = await db.alone.query(depth, []).catch(() => [unknown]);
      this.set(row?.waiting ?? 0);
      oldest.set(row?.oldest_due_seconds ?? 0);
    },
  });
  new Gauge({
    name: 'inbox_webhook_in_flight',
    help: 'Attempts under way.',
    registers,
    collect() {
      this.set(watched?.inFlight() ?? 0);
    },
  });
  new Gauge({
    name: 'inbox_webhook_lane_cap',
    help: 'How many attempts at once a webhook that timed out may have now; healthy ones are not listed.',
    labelNames: ['webhook'] as const,
    registers,
    aggregator: 'min',
    collect() {
      this.reset();
      for (const [webhook, cap] of watched?.throttled() ?? [])
        this.set({ webhook: toId('webhook', webhook) }, cap);
    },
  });
  return {
    attempt: ({ error }) => attempts.inc({ outcome: error ?? 'delivered' }),
    completed: (finished, written) => stale.inc(finished - written),
    delivered: (seconds) => latency.observe(seconds),
    watch: (lanes) => void (watched = lanes),
  };
}
