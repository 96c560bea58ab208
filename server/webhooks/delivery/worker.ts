import { Agent } from 'undici';
import type { Context } from '../../context.ts';
import { newUuid, toId } from '../../ids.ts';
import { createBatcher } from '../../queue/batcher.ts';
import { createLanes, type Outcome } from '../../queue/lanes.ts';
import { startLoop } from '../../queue/loop.ts';
import type { Vault } from '../../vault.ts';
import { createDeliveryMetrics } from './metrics.ts';
import {
  cancelDeliveries,
  type ClaimedRow,
  claimDeliveries,
  type Completion,
  completeDeliveries,
  listLanes,
  updateFailing,
} from './queries.ts';
import { type AttemptResult, sendOnce } from './send.ts';
import { signatureHeaders } from './sign.ts';

const slots = 400;
const pollMs = 500;
const completeEvery = { size: 200, delayMs: 10 };
/** Slots that come free together are filled by one claim. */
const refillMs = 10;

export interface DeliveryWorker {
  wake(): void;
  stop(): Promise<void>;
}

interface Lane {
  workspace_id: string;
  webhook_id: string;
}

interface Finished extends Completion {
  webhookId: string;
}

/** Claims due deliveries into free slots, sends them, records what became of them. Any number of processes may run one. */
export function startDeliveryWorker(ctx: Context): DeliveryWorker {
  const { config, db, vault, log } = ctx;
  const metrics = createDeliveryMetrics(ctx);
  const lanes = createLanes(slots);
  const agent = new Agent({
    connect: ctx.egress.connector,
    pipelining: 1,
    connections: null, // the slots bound them
    keepAliveTimeout: 15_000,
    maxHeaderSize: 16 * 1024,
  });
  const timeoutMs = config.webhookTimeoutSeconds * 1000;
  const underWay = new Set<Promise<void>>();
  const completions = createBatcher<Finished>(record, completeEvery);
  const open = remembering(vault);
  let refill: NodeJS.Timeout | undefined;
  metrics.watch(lanes);

  const loop = startLoop(turn, (error) =>
    log.warn({ err: error }, 'deliveries could not be claimed; trying again'),
  );

  /** Claims what is due and fits. Returns when to look again. */
  async function turn(): Promise<number> {
    const waiting = await listLanes(db);
    for (const lane of waiting.filter(({ deleted }) => deleted)) await cancelAll(lane);
    let due: Lane[] = shuffled(waiting.filter(({ deleted, due_in_ms }) => !deleted && due_in_ms <= 0));
    while (due.length > 0) due = await claim(due);
    return soonest(waiting);
  }

  /** Returns the lanes that gave as much as was asked and may have more, without waiting for the disk. */
  async function claim(due: Lane[]): Promise<Lane[]> {
    const asked = due
      .map(({ workspace_id, webhook_id }) => {
        const count = lanes.room(webhook_id);
        lanes.take(webhook_id, count);
        return { workspace_id, webhook_id, count, started: new Set<string>() };
      })
      .filter(({ count }) => count > 0);
    if (asked.length === 0) return [];
    const claimId = newUuid();
    const claimed = Promise.withResolvers<void>();
    const committed = db
      .transaction(async (tx) => {
        await Promise.all(
          asked.map(async (lane) => {
            const rows = await claimDeliveries(tx, lane.workspace_id, lane.webhook_id, claimId, lane.count);
            // Started before the claim commits: a DELETE of the webhook waits for this transaction. Should the
            // transaction run twice, what the first run started is not started again.
            for (const row of rows) {
              if (lane.started.has(row.id)) continue;
              lane.started.add(row.id);
              start(row, claimId, () => committed);
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
      for (const { webhook_id, count, started } of asked) lanes.giveBack(webhook_id, count - started.size);
    }
    return asked.filter(({ count, started }) => started.size === count);
  }

  function start(row: ClaimedRow, claimId: string, committed: () => Promise<boolean>): void {
    const work = deliver(row, claimId, committed)
      .catch((error: unknown) => {
        lanes.release(row.webhook_id, 'failure');
        log.error({ err: error, delivery: toId('delivery', row.id) }, 'a delivery could not even be tried');
      })
      .finally(() => underWay.delete(work));
    underWay.add(work);
  }

  async function deliver(row: ClaimedRow, claimId: string, committed: () => Promise<boolean>): Promise<void> {
    const result = await attempt(row);
    lanes.release(row.webhook_id, outcomeOf(result));
    metrics.attempt(result);
    if (result.delivered) metrics.delivered(row.age_seconds + result.durationMs / 1000);
    // A receiver may answer before the claim has committed; without the claim there is nothing to complete.
    if (!(await committed())) return;
    const retryInSeconds = result.delivered ? undefined : config.webhookRetrySeconds[row.attempts];
    completions.add({
      workspaceId: row.workspace_id,
      webhookId: row.webhook_id,
      id: row.id,
      claimId,
      delivered: result.delivered,
      retryInSeconds: retryInSeconds ?? null,
      durationMs: result.durationMs,
      status: result.status,
      error: result.error,
      response: result.response,
    });
    refill ??= setTimeout(() => {
      refill = undefined;
      loop.wake();
    }, refillMs);
  }

  function attempt(row: ClaimedRow): Promise<AttemptResult> {
    const body = Buffer.from(row.body);
    const eventId = toId('event', row.event_id);
    const secrets = {
      current: open(row.sealed_secret),
      previous: row.sealed_previous_secret ? open(row.sealed_previous_secret) : undefined,
    };
    return sendOnce(agent, {
      url: row.url,
      timeoutMs,
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Inbox-Webhooks/1',
        'accept-encoding': 'identity',
        'x-service-event': row.event_type,
        'x-service-delivery': toId('delivery', row.id),
        'x-service-attempt': String(row.attempts + 1),
        ...signatureHeaders(secrets, eventId, Math.floor(Date.now() / 1000), body),
      },
    });
  }

  /** Tried until the database takes it or the lease runs out: then the delivery is someone else's to make again. */
  async function record(finished: Finished[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        const written = await db.transaction(async (tx) => {
          updateFailing(tx, lastOfEach(finished));
          return completeDeliveries(tx, finished);
        });
        metrics.completed(finished.length, written.size);
        loop.wake(); // a retry may be due before the next poll
        return;
      } catch (error) {
        log.warn({ err: error, tries }, 'finished deliveries could not be recorded');
        if (tries === 20) return;
        await new Promise((resolve) => setTimeout(resolve, 250 * tries));
      }
    }
  }

  async function cancelAll({ workspace_id, webhook_id }: Lane) {
    while ((await db.transaction((tx) => cancelDeliveries(tx, workspace_id, webhook_id))) > 0);
  }

  const unsubscribe = db.subscribe('deliveries', () => loop.wake());
  return {
    wake: () => loop.wake(),
    async stop() {
      unsubscribe();
      clearTimeout(refill);
      await loop.stop();
      await Promise.all(underWay);
      await completions.drain();
      await agent.close();
    },
  };
}

/** Opening a sealed secret takes 8 µs; a busy webhook has thousands of deliveries a second under the same one. */
function remembering({ open }: Vault): (sealed: Buffer) => string {
  const known = new Map<string, string>();
  return (sealed) => {
    const name = sealed.toString('latin1');
    const secret = known.get(name) ?? open(sealed);
    if (known.size > 1_000) known.clear();
    known.set(name, secret);
    return secret;
  };
}

function outcomeOf({ delivered, error }: AttemptResult): Outcome {
  if (delivered) return 'success';
  return error === 'timeout' ? 'timeout' : 'failure';
}

const soonest = (waiting: { due_in_ms: number }[]): number =>
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

function lastOfEach(finished: Finished[]) {
  const latest = new Map(finished.map((one) => [one.webhookId, one]));
  return [...latest.values()].map(({ workspaceId, webhookId, delivered }) => ({
    workspaceId,
    webhookId,
    failing: !delivered,
  }));
}
