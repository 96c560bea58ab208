import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { serveControl } from './control.ts';
import { type CustomerMessage, customersSend } from './customer.ts';
import { createFaults, type Faults } from './faults.ts';
import { serveGraph } from './graph.ts';
import { createLifetime } from './lifetime.ts';
import { sampleTemplates } from './samples.ts';
import { createStatuses, type Statuses } from './statuses.ts';
import {
  type Behaviour,
  closeWindow,
  createStore,
  type GraphRequest,
  type Media,
  type ReceivedMessage,
  type SentMessage,
  type Settings,
  type WebhookDelivery,
} from './store.ts';
import { createTemplates, type NewTemplate, type Templates } from './templates.ts';
import { createWebhooks, type Webhooks, webhookPayload } from './webhooks.ts';

export interface EmulatorOptions extends Partial<Settings>, Partial<Behaviour> {
  /** 0, the default, for a free one. */
  port?: number;
  host?: string;
  /** HTTPS with this certificate instead of plain HTTP. */
  tls?: { key: string; cert: string };
  /** A few samples unless told. */
  templates?: NewTemplate[];
}

export interface Emulator
  extends Webhooks,
    Omit<Faults, 'take' | 'pending' | 'clear'>,
    Pick<Statuses, 'markRead' | 'fail'> {
  /** The origin; the page is there. */
  url: string;
  apiBaseUrl: string;
  settings: Settings;
  /** May be changed at any time. */
  behaviour: Behaviour;
  /** The settings of a channel of the service. */
  channelSettings: Record<
    | 'api_base_url'
    | 'phone_number_id'
    | 'business_account_id'
    | 'access_token'
    | 'app_secret'
    | 'verify_token',
    string
  >;
  sent: SentMessage[];
  received: ReceivedMessage[];
  requests: GraphRequest[];
  webhookLog: WebhookDelivery[];
  media: Map<string, Media>;
  templates: Templates;
  setWebhookUrl(url: string | null): void;
  /** Resolves with the wamid once the webhook was answered for the first time, whatever the answer. */
  customerSends(message: CustomerMessage): Promise<string>;
  /** The same with several in one webhook. */
  customersSend(messages: CustomerMessage[]): Promise<string[]>;
  /** As if the customer's last message were more than 24 hours old. */
  closeWindow(customer: string): void;
  /** The envelope Meta puts around `messages`, `statuses` or `errors`, for `post`. */
  payload(value: Record<string, unknown>): Record<string, unknown>;
  clearFaults(): void;
  /** Resolves when as many messages were accepted. */
  waitForSent(count: number, timeoutMs?: number): Promise<SentMessage[]>;
  /** Resolves when no status, webhook or retry is under way. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const store = createStore(settingsFrom(options), behaviourFrom(options));
  const templates = createTemplates(store);
  for (const template of options.templates ?? sampleTemplates) templates.add(template);
  const lifetime = createLifetime();
  const webhooks = createWebhooks(store, lifetime);
  const statuses = createStatuses(store, webhooks, lifetime);
  const { take, pending, clear, ...faults } = createFaults();
  const platform = {
    store,
    statuses,
    lifetime,
    webhooks,
    templates,
    faults: { take, pending, clear, ...faults },
  };

  const listener: RequestListener = (request, response) => {
    const url = new URL(request.url ?? '/', 'http://emulator');
    const isControl = url.pathname === '/' || url.pathname.startsWith('/_emulator/');
    const serve = isControl ? serveControl : serveGraph;
    serve(platform, request, response, url).catch((error: unknown) => {
      if (!lifetime.signal.aborted) console.error(error);
      response.destroy();
    });
  };
  const server = options.tls ? createTlsServer(options.tls, listener) : createServer(listener);
  const host = options.host ?? '127.0.0.1';
  server.listen(options.port ?? 0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `${options.tls ? 'https' : 'http'}://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`;
  const { settings } = store;

  return {
    url,
    apiBaseUrl: `${url}/v23.0`,
    settings,
    behaviour: store.behaviour,
    channelSettings: {
      api_base_url: `${url}/v23.0`,
      phone_number_id: settings.phoneNumberId,
      business_account_id: settings.businessAccountId,
      access_token: settings.accessToken,
      app_secret: settings.appSecret,
      verify_token: settings.verifyToken,
    },
    sent: store.sent,
    received: store.received,
    requests: store.requests,
    webhookLog: store.webhookLog,
    media: store.media,
    templates,
    ...faults,
    ...webhooks,
    markRead: statuses.markRead,
    fail: statuses.fail,
    setWebhookUrl: (webhookUrl) => void (settings.webhookUrl = webhookUrl),
    async customerSends(message) {
      const [wamid = ''] = await customersSend(store, webhooks, [message]);
      return wamid;
    },
    customersSend: (messages) => customersSend(store, webhooks, messages),
    closeWindow: (customer) => closeWindow(store, customer),
    payload: (value) => webhookPayload(settings, value),
    clearFaults: clear,
    async waitForSent(count, timeoutMs = 5000) {
      const signal = AbortSignal.timeout(timeoutMs);
      while (store.sent.length < count)
        await once(store.changes, 'change', { signal }).catch(() => {
          throw new Error(`only ${store.sent.length} of ${count} messages were sent in ${timeoutMs} ms`);
        });
      return store.sent;
    },
    settled: lifetime.settled,
    async close() {
      const closed = once(server, 'close');
      server.close();
      await lifetime.end();
      server.closeAllConnections();
      await closed;
    },
  };
}

function settingsFrom(options: EmulatorOptions): Settings {
  return {
    phoneNumberId: options.phoneNumberId ?? '106540352242922',
    businessAccountId: options.businessAccountId ?? '102290129340398',
    accessToken: options.accessToken ?? 'EAAemulator',
    appSecret: options.appSecret ?? 'emulator-app-secret',
    verifyToken: options.verifyToken ?? 'emulator-verify-token',
    displayPhoneNumber: options.displayPhoneNumber ?? '15550783881',
    verifiedName: options.verifiedName ?? 'Inbox Emulator',
    webhookUrl: options.webhookUrl ?? null,
  };
}

/** Meta retries for days; here the last attempt is after some six minutes. */
function behaviourFrom(options: EmulatorOptions): Behaviour {
  return {
    statuses: options.statuses ?? 'ordered',
    statusDelayMs: options.statusDelayMs ?? 10,
    windowErrors: options.windowErrors ?? 'status',
    retryDelaysMs: options.retryDelaysMs ?? [1000, 5000, 15_000, 60_000, 300_000],
    webhookTimeoutMs: options.webhookTimeoutMs ?? 10_000,
  };
}
