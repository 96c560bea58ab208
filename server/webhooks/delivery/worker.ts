import { Agent } from 'undici';
import type { Context } from '../../context.ts';
import { type AttemptResult, sendOnce } from '../../egress/send.ts';
import { toId } from '../../ids.ts';
import type { Outcome } from '../../queue/lanes.ts';
import { type Queue, type QueueWorker, startQueueWorker } from '../../queue/worker.ts';
import type { Vault } from '../../vault.ts';
import { createDeliveryMetrics } from './metrics.ts';
import {
  cancelDeliveries,
  type ClaimedRow,
  claimDeliveries,
  completeDeliveries,
  listLanes,
  updateFailing,
} from './queries.ts';
import { signatureHeaders } from './sign.ts';

/** Sends the events of the outbox to the webhooks that subscribed to them. */
export function startDeliveryWorker(ctx: Context): QueueWorker {
  const { config, db } = ctx;
  const metrics = createDeliveryMetrics(ctx);
  const agent = new Agent({
    connect: ctx.egress.connector,
    pipelining: 1,
    connections: null, // the slots bound them
    keepAliveTimeout: 15_000,
    maxHeaderSize: 16 * 1024,
  });
  const timeoutMs = config.webhookTimeoutSeconds * 1000;
  // Nobody else may claim what is still being sent, nor what was sent and waits to be recorded.
  const leaseSeconds = Math.max(30, config.webhookTimeoutSeconds + 20);
  const open = remembering(ctx.vault);

  const queue: Queue<ClaimedRow, AttemptResult> = {
    name: 'deliveries',
    slots: 400,
    async lanes() {
      const waiting = await listLanes(db);
      for (const lane of waiting.filter(({ deleted }) => deleted)) {
        while ((await db.transaction((tx) => cancelDeliveries(tx, lane.workspace_id, lane.lane))) > 0);
      }
      return waiting.filter(({ deleted }) => !deleted);
    },
    claim: (tx, lane, claimId, count) =>
      claimDeliveries(tx, lane.workspace_id, lane.lane, claimId, count, leaseSeconds),
    attempted: 'inside the claim', // a DELETE of the webhook waits for that transaction: none starts after it
    async attempt(row) {
      const result = await send(row);
      metrics.attempt(result);
      if (result.delivered) metrics.delivered(row.age_seconds + result.durationMs / 1000);
      return result;
    },
    outcomeOf,
    async record(tx, finished) {
      const last = new Map(finished.map((one) => [one.row.lane, one]));
      updateFailing(
        tx,
        [...last.values()].map(({ row, result }) => ({
          workspaceId: row.workspace_id,
          webhookId: row.lane,
          failing: !result.delivered,
        })),
      );
      const completions = finished.map(({ row, claimId, result }) => ({
        workspaceId: row.workspace_id,
        id: row.id,
        claimId,
        retryInSeconds: result.delivered ? null : (config.webhookRetrySeconds[row.attempts] ?? null),
        ...result,
      }));
      metrics.completed(finished.length, await completeDeliveries(tx, completions));
    },
    plain: (result) => ({ ...result, response: null }),
  };

  function send(row: ClaimedRow): Promise<AttemptResult> {
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

  const worker = startQueueWorker(ctx, queue);
  metrics.watch(worker.lanes);
  return {
    ...worker,
    async stop() {
      await worker.stop();
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
