import type { Context } from '../context.ts';
import type { Tx } from '../db/client.ts';
import { newUuid } from '../ids.ts';
import { createBatcher } from './batcher.ts';
import { createLanes, type Lanes, type Outcome } from './lanes.ts';
import { startLoop } from './loop.ts';

/** One receiver that has something waiting. */
export interface Lane {
  workspace_id: string;
  lane: string;
  /** Until the first of it is due; 0 or less: now. */
  due_in_ms: number;
}

export interface Claimed {
  id: string;
  lane: string;
}

export interface Finished<Row, Result> {
  row: Row;
  claimId: string;
  result: Result;
}

/** A queue in the database: what waits, how some of it is claimed, made and recorded. */
export interface Queue<Row extends Claimed, Result> {
  /** In log lines, and the topic that writers announce. */
  name: string;
  slots: number;
  lanes(): Promise<Lane[]>;
  /** Leases up to `count` due rows of a lane to this claim. */
  claim(tx: Tx, lane: Lane, claimId: string, count: number): Promise<Row[]>;
  /**
   * When a row is attempted: inside the transaction that claims it, or once that has committed. Inside is sooner, and
   * what locks the claim shuts out cannot come between; after means that no attempt is made without a lease.
   */
  attempted: 'inside the claim' | 'after the claim';
  attempt(row: Row): Promise<Result>;
  outcomeOf(result: Result): Outcome;
  /** Fenced by the claim: what is no longer ours is left alone. */
  record(tx: Tx, finished: Finished<Row, Result>[]): Promise<void>;
  /** The same result without what the other side said: for one that the database will not take as it is. */
  plain(result: Result): Result;
}

export interface QueueWorker {
  lanes: Lanes;
  wake(): void;
  stop(): Promise<void>;
}

const pollMs = 500;
const recordEvery = { size: 200, delayMs: 10 };
/** What comes within it is claimed together, and slots that come free within it are filled by one claim. */
const turnsApartMs = 5;

/** Claims what is due into free slots, attempts it, records what became of it. Any number of processes may run one. */
export function startQueueWorker<Row extends Claimed, Result>(
  { db, log }: Pick<Context, 'db' | 'log'>,
  queue: Queue<Row, Result>,
): QueueWorker {
  const lanes = createLanes(queue.slots);
  const underWay = new Set<Promise<void>>();
  const finished = createBatcher<Finished<Row, Result>>(record, recordEvery);

  const loop = startLoop(
    turn,
    (error) => log.warn({ err: error, queue: queue.name }, 'due work could not be claimed; trying again'),
    turnsApartMs,
  );

  /** Claims what is due and fits. Returns when to look again. */
  async function turn(): Promise<number> {
    const waiting = await queue.lanes();
    let due = shuffled(waiting.filter(({ due_in_ms }) => due_in_ms <= 0));
    while (due.length > 0) due = await claim(due);
    return soonest(waiting);
  }

  /** Returns the lanes that gave as much as was asked and may have more, without waiting for the disk. */
  async function claim(due: Lane[]): Promise<Lane[]> {
    const asked = due
      .map((lane) => {
        const count = lanes.room(lane.lane);
        lanes.take(lane.lane, count);
        return { lane, count, started: new Map<string, Row>() };
      })
      .filter(({ count }) => count > 0);
    if (asked.length === 0) return [];
    const claimId = newUuid();
    const claimed = Promise.withResolvers<void>();
    const committed = db
      .transaction(async (tx) => {
        await Promise.all(
          asked.map(async ({ lane, count, started }) => {
            for (const row of await queue.claim(tx, lane, claimId, count)) {
              // Should the transaction run twice, what the first run started is not started again.
              if (started.has(row.id)) continue;
              started.set(row.id, row);
              if (queue.attempted === 'inside the claim') start(row, claimId, () => committed);
            }
          }),
        );
        claimed.resolve();
      })
      .then(
        () => true,
        (error: unknown) => {
          claimed.reject(error);
          return false;
        },
      );
    try {
      await claimed.promise;
    } finally {
      for (const { lane, count, started } of asked) lanes.giveBack(lane.lane, count - started.size);
    }
    if (queue.attempted === 'after the claim') track(startCommitted(asked, claimId, committed));
    return asked.filter(({ count, started }) => started.size === count).map(({ lane }) => lane);
  }

  async function startCommitted(
    asked: { lane: Lane; started: Map<string, Row> }[],
    claimId: string,
    committed: Promise<boolean>,
  ): Promise<void> {
    const isOurs = await committed;
    for (const { lane, started } of asked) {
      if (!isOurs) lanes.giveBack(lane.lane, started.size);
      else for (const row of started.values()) start(row, claimId, () => committed);
    }
  }

  function start(row: Row, claimId: string, committed: () => Promise<boolean>): void {
    track(
      make(row, claimId, committed).catch((error: unknown) => {
        lanes.release(row.lane, 'failure');
        log.error({ err: error, queue: queue.name, id: row.id }, 'an attempt could not even be made');
      }),
    );
  }

  function track(work: Promise<void>): void {
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
  }

  async function make(row: Row, claimId: string, committed: () => Promise<boolean>): Promise<void> {
    const result = await queue.attempt(row);
    lanes.release(row.lane, queue.outcomeOf(result));
    // A receiver may answer before the claim has committed; without the claim there is nothing to record.
    if (!(await committed())) return;
    finished.add({ row, claimId, result });
    loop.wake(); // its slot is free
  }

  /** Tried until the database takes it or the lease runs out: then it is someone else's to make again. */
  async function record(batch: Finished<Row, Result>[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await db.transaction((tx) => queue.record(tx, batch));
        loop.wake(); // a retry, or what waited behind this, may be due before the next poll
        return;
      } catch (error) {
        if (isAboutData(error)) return recordApart(batch, error);
        log.warn({ err: error, queue: queue.name, tries }, 'finished work could not be recorded');
        if (tries === 20) return;
        await new Promise((resolve) => setTimeout(resolve, 250 * tries));
      }
    }
  }

  /** Something in the batch cannot be written: it must not keep the rest from being recorded. */
  async function recordApart(batch: Finished<Row, Result>[], error: unknown): Promise<void> {
    const [one, ...others] = batch;
    if (others.length > 0) {
      for (const each of batch) await record([each]);
      return;
    }
    log.error({ err: error, queue: queue.name, id: one!.row.id }, 'a result cannot be recorded as it is');
    await db
      .transaction((tx) => queue.record(tx, [{ ...one!, result: queue.plain(one!.result) }]))
      .then(() => loop.wake())
      .catch((again: unknown) => log.error({ err: again, queue: queue.name }, 'nor without its details'));
  }

  const unsubscribe = db.subscribe(queue.name, () => loop.wake());
  return {
    lanes,
    wake: () => loop.wake(),
    async stop() {
      unsubscribe();
      await loop.stop();
      while (underWay.size > 0) await Promise.all(underWay);
      await finished.drain();
    },
  };
}

/** PostgreSQL's classes for data it cannot hold, a rule that is broken, and a limit that is passed. */
const isAboutData = (error: unknown): boolean => /^(22|23|54)/.test((error as { code?: string }).code ?? '');

const soonest = (waiting: Lane[]): number =>
  Math.max(
    1,
    Math.min(pollMs, ...waiting.filter(({ due_in_ms }) => due_in_ms > 0).map(({ due_in_ms }) => due_in_ms)),
  );

/** No lane is always first when slots are short. */
function shuffled<T>(list: T[]): T[] {
  return list
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
