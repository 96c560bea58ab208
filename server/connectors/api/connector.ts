import { Agent } from 'undici';
import type { Context } from '../../context.ts';
import { type AttemptResult, sendOnce } from '../../egress/send.ts';
import { toId } from '../../ids.ts';
import { signatureHeaders } from '../../webhooks/delivery/sign.ts';
import type { Connector, Outgoing, SendResult } from '../connector.ts';
import { usableExternalId } from '../external-id.ts';

/** Any system that speaks HTTP: each message is one signed POST to the channel's `callback_url`. */
export function createApiConnector({ config, egress }: Pick<Context, 'config' | 'egress'>): Connector {
  const agent = new Agent({
    connect: egress.connector,
    keepAliveTimeout: 15_000,
    maxHeaderSize: 16 * 1024,
  });
  const timeoutMs = config.webhookTimeoutSeconds * 1000;
  return {
    async send(message) {
      const { callback_url: url } = message.channel.settings;
      const { secret } = message.channel.secrets;
      if (typeof url !== 'string') {
        return {
          outcome: 'failed',
          reason: 'The channel has lost its callback_url before this message was taken.',
        };
      }
      const body = Buffer.from(JSON.stringify(payloadOf(message)));
      const result = await sendOnce(agent, {
        url,
        timeoutMs,
        body,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Inbox-Channels/1',
          'accept-encoding': 'identity',
          'idempotency-key': message.id,
          ...(secret !== undefined &&
            signatureHeaders(
              { current: secret, previous: undefined },
              message.id,
              Math.floor(Date.now() / 1000),
              body,
            )),
        },
      });
      return resultOf(result);
    },
    stop: () => agent.close(),
  };
}

function payloadOf({ id, channel, conversationId, content, attachments, to, sender, createdAt }: Outgoing) {
  return {
    message: { id, type: 'outgoing', content, attachments, sender, created_at: createdAt },
    conversation: { id: conversationId },
    contact: {
      id: to.contactId,
      external_id: to.externalId,
      name: to.name,
      phone: to.phone,
      email: to.email,
    },
    channel: { id: toId('channel', channel.id), type: channel.type },
  };
}

/** These may pass; every other 4xx is the receiver's word that it will not take this message. */
const passing = new Set([408, 409, 425, 429]);

function resultOf({ delivered, status, error, response }: AttemptResult): SendResult {
  if (delivered) return { outcome: 'sent', externalId: externalIdIn(response) };
  if (status === null) {
    if (error === 'blocked_address')
      return { outcome: 'failed', reason: 'The callback URL leads to an address that is not public.' };
    return {
      outcome: 'retry',
      reason: `The callback URL could not be reached (${error}).`,
      timedOut: error === 'timeout',
    };
  }
  const reason = `The callback URL answered ${status}.`;
  return status < 500 && status >= 400 && !passing.has(status)
    ? { outcome: 'failed', reason }
    : { outcome: 'retry', reason };
}

/** `{ "external_id": "…" }` in the answer is what the receiver calls the message; anything else is fine too. */
function externalIdIn(response: string | null): string | undefined {
  try {
    const { external_id } = JSON.parse(response ?? '') as { external_id?: unknown };
    return usableExternalId(external_id);
  } catch {
    return undefined;
  }
}
