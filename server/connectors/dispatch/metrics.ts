import { Counter, Gauge } from '@prometheus-io/client';
import type { ChannelType } from '../../channels/types.ts';
import type { Context } from '../../context.ts';
import { statement } from '../../db/client.ts';
import type { SendResult } from '../connector.ts';

export interface DispatchMetrics {
  attempt(type: ChannelType, outcome: SendResult['outcome']): void;
  /** How many finished, and how many of those were still ours to record. */
  completed(finished: number, written: number): void;
}

const depth = statement<{ waiting: number; oldest_due_seconds: number | null }>(
  'outgoing.depth',
  `select count(*) as waiting,
     extract(epoch from clock_timestamp() - min(next_at) filter (where next_at <= clock_timestamp()))::float8
       as oldest_due_seconds
   from outgoing_queue`,
);

export function createDispatchMetrics({ metrics, db }: Pick<Context, 'metrics' | 'db'>): DispatchMetrics {
  const registers = [metrics.registry];
  const attempts = new Counter({
    name: 'inbox_channel_sends_total',
    help: 'Attempts to hand a message to a platform, by type of channel and outcome.',
    labelNames: ['type', 'outcome'] as const,
    registers,
  });
  const stale = new Counter({
    name: 'inbox_channel_stale_completions_total',
    help: 'Attempts that ended after their lease had gone to another worker, or the platform had reported first.',
    registers,
  });
  const oldest = new Gauge({
    name: 'inbox_channel_oldest_due_seconds',
    help: 'How long the oldest message that is due has waited.',
    aggregator: 'max',
    registers,
  });
  new Gauge({
    name: 'inbox_channel_queue_depth',
    help: 'Messages that no platform has taken yet.',
    aggregator: 'max',
    registers,
    async collect() {
      const [row] = await db.alone.query(depth, []).catch(() => []);
      this.set(row?.waiting ?? Number.NaN);
      oldest.set(row ? (row.oldest_due_seconds ?? 0) : Number.NaN);
    },
  });
  return {
    attempt: (type, outcome) => attempts.inc({ type, outcome }),
    completed: (finished, written) => stale.inc(finished - written),
  };
}
