import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { newObjectId, waIdOf } from './ids.ts';

export interface Settings {
  phoneNumberId: string;
  businessAccountId: string;
  accessToken: string;
  appSecret: string;
  verifyToken: string;
  displayPhoneNumber: string;
  verifiedName: string;
  webhookUrl: string | null;
}

/** May be changed at any time; the next message follows it. */
export interface Behaviour {
  /** The statuses that follow an accepted message by themselves. */
  statuses: 'ordered' | 'shuffled' | 'doubled' | 'off';
  statusDelayMs: number;
  /** Where a free-form message outside the 24 hours fails. Meta accepts it and fails it in a status. */
  windowErrors: 'status' | 'response' | 'off';
  /** Between attempts of a webhook that was not answered with 2xx; after the last one it is given up. */
  retryDelaysMs: number[];
  webhookTimeoutMs: number;
}

export type MessageStatus = 'accepted' | 'sent' | 'delivered' | 'read' | 'failed';

/** The JSON of a request to /messages. */
export interface MessageBody extends Record<string, unknown> {
  to?: unknown;
  type?: unknown;
  biz_opaque_callback_data?: string;
}

export interface SentMessage {
  wamid: string;
  /** The customer's WhatsApp id: digits only. */
  to: string;
  type: string;
  body: MessageBody;
  headers: IncomingHttpHeaders;
  at: Date;
  status: MessageStatus;
  errorCode?: number;
}

export interface ReceivedMessage {
  wamid: string;
  from: string;
  message: Record<string, unknown>;
  at: Date;
  readByBusiness: boolean;
}

export interface Customer {
  waId: string;
  name: string | null;
  lastMessageAt: Date | null;
}

export interface Media {
  id: string;
  bytes: Buffer;
  mime: string;
  filename?: string;
}

export interface TemplateComponent extends Record<string, unknown> {
  type: 'HEADER' | 'BODY' | 'FOOTER' | 'BUTTONS';
  text?: string;
}

export interface Template {
  id: string;
  name: string;
  language: string;
  status: 'APPROVED' | 'PENDING' | 'REJECTED' | 'PAUSED' | 'DISABLED' | 'IN_APPEAL' | 'LIMIT_EXCEEDED';
  category: 'UTILITY' | 'MARKETING' | 'AUTHENTICATION';
  components: TemplateComponent[];
  parameter_format?: 'POSITIONAL' | 'NAMED';
}

export interface GraphRequest {
  at: Date;
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Parsed where it is JSON; bytes are not kept. */
  body: unknown;
  /** Null while, or when, it was not answered. */
  status: number | null;
}

export interface WebhookAttempt {
  at: Date;
  /** Null when nothing answered. */
  status: number | null;
  body: string;
  error?: string;
}

export interface WebhookDelivery {
  /** The exact text that was signed and sent. */
  body: string;
  signature: string;
  attempts: WebhookAttempt[];
  state: 'sending' | 'delivered' | 'retrying' | 'given_up' | 'no_webhook_url';
}

export interface Store {
  settings: Settings;
  behaviour: Behaviour;
  sent: SentMessage[];
  received: ReceivedMessage[];
  customers: Map<string, Customer>;
  media: Map<string, Media>;
  templates: Template[];
  requests: GraphRequest[];
  webhookLog: WebhookDelivery[];
  /** Emits `change` after every change of the above. */
  changes: EventEmitter;
}

export function createStore(settings: Settings, behaviour: Behaviour): Store {
  return {
    settings,
    behaviour,
    sent: [],
    received: [],
    customers: new Map(),
    media: new Map(),
    templates: [],
    requests: [],
    webhookLog: [],
    changes: new EventEmitter().setMaxListeners(0),
  };
}

export function changed(store: Store): void {
  store.changes.emit('change');
}

export function customerOf(store: Store, waId: string): Customer {
  const existing = store.customers.get(waId);
  if (existing) return existing;
  const customer: Customer = { waId, name: null, lastMessageAt: null };
  store.customers.set(waId, customer);
  return customer;
}

const windowMs = 24 * 60 * 60 * 1000;

export function hasOpenWindow(store: Store, waId: string): boolean {
  const last = store.customers.get(waId)?.lastMessageAt;
  return last !== null && last !== undefined && Date.now() - last.getTime() < windowMs;
}

/** As if the customer's last message were too old. */
export function closeWindow(store: Store, customer: string): void {
  customerOf(store, waIdOf(customer)).lastMessageAt = null;
  changed(store);
}

export function addMedia(store: Store, media: Omit<Media, 'id'>): Media {
  const added = { id: newObjectId(), ...media };
  store.media.set(added.id, added);
  changed(store);
  return added;
}

export function sentMessage(store: Store, wamid: string): SentMessage {
  const message = store.sent.find((one) => one.wamid === wamid);
  if (!message) throw new Error(`no message ${wamid} was sent`);
  return message;
}
