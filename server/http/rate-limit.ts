import { setImmediate } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { statement } from '../db/client.ts';
import type { Plan } from './authenticate.ts';

export const requestsPerMinute: Record<Plan, number> = { starter: 60, pro: 300, business: 1000 };
export const withoutKeyPerMinute = 100;

export interface Verdict {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** When the window ends, in epoch seconds. */
  resetAt: number;
  retryAfterSeconds: number;
}

interface WindowRow {
  bucket: string;
  granted: number;
  used: number;
  capacity: number;
  ends_at: number;
  ends_in: number;
}

/**
 * A window opens with a bucket's first request and lasts 60 seconds by the database's clock; it grants exactly its
 * capacity over all processes, or less where a session was lost with its answer and the statement is sent again. The
 * time is read once a row: read twice, the two could fall on both sides of the end.
 */
const take = statement<WindowRow>(
  'rate.take',
  `insert into rate_windows as w (bucket, opened_at, used, granted, capacity)
   select bucket, clock_timestamp(), least(wanted, capacity), least(wanted, capacity), capacity
   from unnest($1::text[], $2::int[], $3::int[]) as asked (bucket, wanted, capacity)
   order by bucket
   on conflict (bucket) do update set
     opened_at = case when w.opened_at > excluded.opened_at - interval '60 s' then w.opened_at else excluded.opened_at end,
     used = case when w.opened_at > excluded.opened_at - interval '60 s'
       then greatest(w.used, least(w.used + excluded.used, excluded.capacity)) else excluded.used end,
     granted = case when w.opened_at > excluded.opened_at - interval '60 s'
       then greatest(0, least(excluded.used, excluded.capacity - w.used)) else excluded.used end,
     capacity = excluded.capacity
   returning bucket, granted, used, capacity,
     ceil(extract(epoch from opened_at) + 60)::float8 as ends_at,
     (extract(epoch from opened_at - clock_timestamp()) + 60)::float8 as ends_in`,
);

const forgetOldWindows = statement<never>(
  'rate.forget',
  `delete from rate_windows where opened_at < clock_timestamp() - interval '5 minutes'`,
);

export interface RateLimiter {
  take(bucket: string, capacity: number): Promise<Verdict>;
}

interface Waiting {
  capacity: number;
  takers: { resolve: (verdict: Verdict) => void; reject: (error: unknown) => void }[];
}

const tooLongMs = 1_000;
/** The next is written while PostgreSQL works on the one before. */
const mostUnderWay = 2;

/**
 * Requests that arrive in one turn, or while statements are under way, share one: the busier the service, the less each
 * request pays for its count.
 */
export function createRateLimiter({ db }: Context): RateLimiter {
  let waiting = new Map<string, Waiting>();
  let underWay = 0;

  async function settle() {
    underWay++;
    await setImmediate(); // whoever else has come in this turn
    while (waiting.size > 0) {
      const batch = waiting;
      waiting = new Map();
      await grant(batch);
    }
    underWay--;
  }

  async function grant(batch: Map<string, Waiting>) {
    const asked = [...batch];
    const begun = performance.now();
    try {
      const rows = await db.apart.query(take, [
        asked.map(([bucket]) => bucket),
        asked.map(([, { takers }]) => takers.length),
        asked.map(([, { capacity }]) => capacity),
      ]);
      for (const row of rows) {
        batch.get(row.bucket)?.takers.forEach(({ resolve }, index) => resolve(verdictOf(row, index)));
      }
    } catch (error) {
      const failed = [...batch.values()];
      if (performance.now() - begun > tooLongMs) {
        failed.push(...waiting.values()); // they have waited along, and would wait as long again
        waiting = new Map();
      }
      for (const { takers } of failed) for (const { reject } of takers) reject(error);
    }
  }

  return {
    take(bucket, capacity) {
      return new Promise((resolve, reject) => {
        const entry = waiting.get(bucket) ?? { capacity, takers: [] };
        entry.takers.push({ resolve, reject });
        waiting.set(bucket, entry);
        if (underWay < mostUnderWay) void settle();
      });
    },
  };
}

/** The taker at `index` of a batch passes when the window granted more than `index`. */
function verdictOf(row: WindowRow, index: number): Verdict {
  const allowed = index < row.granted;
  const usedByThen = row.used - row.granted + Math.min(index + 1, row.granted);
  return {
    allowed,
    limit: row.capacity,
    remaining: Math.max(0, row.capacity - usedByThen),
    resetAt: row.ends_at,
    retryAfterSeconds: Math.max(1, Math.ceil(row.ends_in)),
  };
}

export async function sweepRateWindows({ db }: Context): Promise<void> {
  await db.transaction(async (tx) => tx.send(forgetOldWindows, []));
}
