import { createHmac, randomBytes } from 'node:crypto';
import type { Lifetime } from './lifetime.ts';
import { changed, type Settings, type Store, type WebhookAttempt, type WebhookDelivery } from './store.ts';

export interface PostOptions {
  /** The whole header instead of a computed one; an empty text sends none. */
  signature?: string;
  /** Signs with this instead of the app secret. */
  secret?: string;
  /** Tries again as Meta does; a raw post is sent once unless told. */
  retry?: boolean;
}

export interface Webhooks {
  /** Resolves with the answer to the first attempt. A text is sent as it is, anything else as Meta's JSON. */
  post(payload: unknown, options?: PostOptions): Promise<WebhookAttempt>;
  /** True if the challenge came back exactly. */
  handshake(): Promise<boolean>;
}

export function createWebhooks(store: Store, lifetime: Lifetime): Webhooks {
  async function post(payload: unknown, options: PostOptions = {}): Promise<WebhookAttempt> {
    const body = typeof payload === 'string' ? payload : metaJson(payload);
    const signature = options.signature ?? signatureOf(body, options.secret ?? store.settings.appSecret);
    const delivery: WebhookDelivery = { body, signature, attempts: [], state: 'sending' };
    store.webhookLog.push(delivery);
    const first = await attempt(delivery);
    if (delivery.state === 'retrying') {
      if (options.retry) lifetime.run(() => tryAgain(delivery));
      else delivery.state = 'given_up';
    }
    changed(store);
    return first;
  }

  async function attempt(delivery: WebhookDelivery): Promise<WebhookAttempt> {
    const made = await send(delivery);
    delivery.attempts.push(made);
    if (made.status !== null && made.status >= 200 && made.status < 300) delivery.state = 'delivered';
    else delivery.state = store.settings.webhookUrl === null ? 'no_webhook_url' : 'retrying';
    changed(store);
    return made;
  }

  async function tryAgain(delivery: WebhookDelivery): Promise<void> {
    for (const delay of store.behaviour.retryDelaysMs) {
      await lifetime.sleep(delay);
      await attempt(delivery);
      if (delivery.state === 'delivered') return;
    }
    delivery.state = 'given_up';
    changed(store);
  }

  async function send(delivery: WebhookDelivery): Promise<WebhookAttempt> {
    const at = new Date();
    const url = store.settings.webhookUrl;
    if (url === null) return { at, status: null, body: '', error: 'no webhook URL is set' };
    try {
      const response = await fetch(url, {
        method: 'POST',
        body: delivery.body,
        redirect: 'manual',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'facebookexternalua',
          ...(delivery.signature !== '' && { 'x-hub-signature-256': delivery.signature }),
        },
        signal: AbortSignal.any([lifetime.signal, AbortSignal.timeout(store.behaviour.webhookTimeoutMs)]),
      });
      return { at, status: response.status, body: await response.text() };
    } catch (error) {
      return { at, status: null, body: '', error: reason(error) };
    }
  }

  async function handshake(): Promise<boolean> {
    if (store.settings.webhookUrl === null) return false;
    const challenge = String(randomBytes(4).readUInt32BE());
    const url = new URL(store.settings.webhookUrl);
    url.searchParams.set('hub.mode', 'subscribe');
    url.searchParams.set('hub.challenge', challenge);
    url.searchParams.set('hub.verify_token', store.settings.verifyToken);
    try {
      const response = await fetch(url, { redirect: 'manual', signal: lifetime.signal });
      return response.status === 200 && (await response.text()) === challenge;
    } catch {
      return false;
    }
  }

  return { post, handshake };
}

/** The envelope around `messages`, `statuses` or `errors`. */
export function webhookPayload(settings: Settings, value: Record<string, unknown>): Record<string, unknown> {
  const { businessAccountId, displayPhoneNumber, phoneNumberId } = settings;
  const metadata = { display_phone_number: displayPhoneNumber, phone_number_id: phoneNumberId };
  return {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: businessAccountId,
        changes: [{ value: { messaging_product: 'whatsapp', metadata, ...value }, field: 'messages' }],
      },
    ],
  };
}

/** Meta signs and sends its JSON with `\/` and `\u00e4`: whoever signs a parsed and rewritten body gets it wrong. */
function metaJson(payload: unknown): string {
  return JSON.stringify(payload)
    .replaceAll('/', '\\/')
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function signatureOf(body: string, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
