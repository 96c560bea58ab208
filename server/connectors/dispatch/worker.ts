import { openSecrets } from '../../channels/settings.ts';
import type { Context } from '../../context.ts';
import { senderJson } from '../../conversations/messages/sender.ts';
import { toId } from '../../ids.ts';
import type { Outcome } from '../../queue/lanes.ts';
import { type Queue, type QueueWorker, startQueueWorker } from '../../queue/worker.ts';
import type { Outgoing, Retry, SendResult } from '../connector.ts';
import { createConnectors, stopConnectors } from '../registry.ts';
import { createDispatchMetrics } from './metrics.ts';
import { type ClaimedMessage, claimMessages, completeMessages, leaseSeconds, listLanes } from './queries.ts';

/** Well inside the lease: an attempt has ended before anyone else may make it. */
const deadlineMs = (leaseSeconds - 15) * 1000;

/** Takes outgoing messages to the platforms of their channels, each conversation's in their order. */
export function startDispatchWorker(ctx: Context): QueueWorker {
  const { config, db, vault, log } = ctx;
  const connectors = createConnectors(ctx);
  const metrics = createDispatchMetrics(ctx);

  const queue: Queue<ClaimedMessage, SendResult> = {
    name: 'outgoing',
    slots: 200,
    lanes: () => listLanes(db),
    claim: (tx, lane, claimId, count) => claimMessages(tx, lane.lane, claimId, count),
    attempted: 'after the claim', // a customer must not get twice what could have been sent once
    async attempt(row) {
      const result = await send(row);
      metrics.attempt(row.channel_type, result.outcome);
      return result;
    },
    outcomeOf,
    async record(tx, finished) {
      const completions = finished.map(({ row, claimId, result }) => ({
        workspaceId: row.workspace_id,
        channelId: row.lane,
        id: row.id,
        claimId,
        retryInSeconds:
          result.outcome === 'retry' ? waitFor(result, config.channelRetrySeconds[row.attempts]) : null,
        error: result.outcome === 'sent' ? null : result.reason,
        externalId: (result.outcome === 'sent' && result.externalId) || null,
      }));
      metrics.completed(finished.length, await completeMessages(tx, completions));
    },
    plain: (result) =>
      result.outcome === 'sent'
        ? { outcome: 'sent' }
        : { ...result, reason: 'The channel refused the message.' },
  };

  async function send(row: ClaimedMessage): Promise<SendResult> {
    try {
      return await connectors[row.channel_type].send(outgoingOf(row), AbortSignal.timeout(deadlineMs));
    } catch (error) {
      log.error({ err: error, message: toId('message', row.id) }, 'a connector failed');
      return { outcome: 'retry', reason: 'The channel could not be reached.' };
    }
  }

  function outgoingOf(row: ClaimedMessage): Outgoing {
    return {
      channel: {
        workspaceId: row.workspace_id,
        id: row.lane,
        type: row.channel_type,
        settings: row.settings,
        secrets: openSecrets(vault, row.sealed_settings),
      },
      id: toId('message', row.id),
      conversationId: toId('conversation', row.conversation_id),
      content: row.content,
      attachments: row.attachments,
      template: row.template_name === null ? null : templateOf(row, row.template_name),
      to: {
        contactId: toId('contact', row.contact_id),
        externalId: row.identity,
        name: row.contact_name,
        phone: row.contact_phone,
        email: row.contact_email,
      },
      sender: senderJson({ type: row.sender_type, id: row.sender_id, name: row.sender_name }),
      createdAt: row.created_at,
    };
  }

  const worker = startQueueWorker(ctx, queue);
  return {
    ...worker,
    async stop() {
      await worker.stop();
      await stopConnectors(connectors);
    },
  };
}

function waitFor({ uncertain, afterSeconds = 0 }: Retry, step: number | undefined): number | null {
  if (step === undefined) return null;
  return Math.max(uncertain ? 5 * step : step, Math.min(afterSeconds, 3_600));
}

const templateOf = (row: ClaimedMessage, name: string) => ({
  name,
  language: row.template_language ?? '',
  body: row.template_body ?? '',
  variables: row.template_variables ?? {},
});

function outcomeOf(result: SendResult): Outcome {
  if (result.outcome === 'retry') return result.timedOut ? 'timeout' : 'failure';
  return 'success'; // a refused message says nothing against the lane
}
