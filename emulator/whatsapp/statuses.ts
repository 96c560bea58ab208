import { createHash } from 'node:crypto';
import { statusError } from './errors.ts';
import { epochSeconds } from './ids.ts';
import type { Lifetime } from './lifetime.ts';
import { changed, type MessageStatus, type SentMessage, type Store, sentMessage } from './store.ts';
import { type Webhooks, webhookPayload } from './webhooks.ts';

export interface Statuses {
  /** What follows an accepted message by itself. */
  follow(message: SentMessage, failure?: number): void;
  markRead(wamid: string): Promise<void>;
  fail(wamid: string, code: number, details?: string): Promise<void>;
}

const orders = {
  ordered: ['sent', 'delivered'],
  shuffled: ['delivered', 'sent'],
  doubled: ['sent', 'sent', 'delivered', 'delivered'],
  off: [],
} as const;

export function createStatuses(store: Store, webhooks: Webhooks, lifetime: Lifetime): Statuses {
  async function report(message: SentMessage, status: MessageStatus, more = {}): Promise<void> {
    advance(message, status);
    changed(store);
    const payload = webhookPayload(store.settings, { statuses: [{ ...statusOf(message, status), ...more }] });
    await webhooks.post(payload, { retry: true });
  }

  async function fail(message: SentMessage, code: number, details?: string): Promise<void> {
    message.errorCode = code;
    await report(message, 'failed', { errors: [statusError(code, details)] });
  }

  return {
    follow(message, failure) {
      lifetime.run(async () => {
        await lifetime.sleep(store.behaviour.statusDelayMs);
        if (failure !== undefined) return fail(message, failure);
        for (const status of orders[store.behaviour.statuses]) await report(message, status);
      });
    },
    markRead: (wamid) => report(sentMessage(store, wamid), 'read'),
    fail: (wamid, code, details) => fail(sentMessage(store, wamid), code, details),
  };
}

const steps: MessageStatus[] = ['accepted', 'sent', 'delivered', 'read', 'failed'];

function advance(message: SentMessage, status: MessageStatus): void {
  if (steps.indexOf(status) > steps.indexOf(message.status)) message.status = status;
}

function statusOf(message: SentMessage, status: MessageStatus): Record<string, unknown> {
  const callback = message.body.biz_opaque_callback_data;
  return {
    id: message.wamid,
    status,
    timestamp: epochSeconds(new Date()),
    recipient_id: message.to,
    ...((status === 'sent' || status === 'delivered') && priceOf(message, status)),
    ...(callback !== undefined && { biz_opaque_callback_data: callback }),
  };
}

function priceOf(message: SentMessage, status: 'sent' | 'delivered'): Record<string, unknown> {
  const category = message.type === 'template' ? 'utility' : 'service';
  const expires = new Date(message.at.getTime() + 24 * 60 * 60 * 1000);
  return {
    conversation: {
      id: createHash('md5').update(`${message.to} ${category}`).digest('hex'),
      ...(status === 'sent' && { expiration_timestamp: epochSeconds(expires) }),
      origin: { type: category },
    },
    pricing: { billable: category !== 'service', pricing_model: 'PMP', category, type: 'regular' },
  };
}
