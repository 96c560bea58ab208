import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { PlainSettings, Secrets } from '../channels/settings.ts';
import type { ChannelType } from '../channels/types.ts';
import type { Attachment, DeliveryStatus } from '../conversations/messages/schema.ts';
import type { TemplateStatus } from '../templates/schema.ts';

/**
 * How one kind of channel talks to its platform. What the kind can do (reply window, length of text, templates,
 * attachments, settings) is its row in channels/types.ts; where it stands is its line in registry.ts. Everything else
 * about a platform lies in its folder here, and every connector passes conformance.test.ts.
 */
export interface Connector {
  /** Hands one message over before the deadline. What goes wrong is a result, not an exception. */
  send(message: Outgoing, deadline: AbortSignal): Promise<SendResult>;
  /** For platforms that call us. */
  webhook?: PlatformWebhook;
  /** For platforms that keep the media of their messages. */
  openMedia?(channel: OpenChannel, externalId: string): Promise<Media>;
  /**
   * For platforms that decide which templates may be sent: all of them, or a PlatformError. undefined: the channel is
   * not set up for it.
   */
  listTemplates?(channel: OpenChannel): Promise<PlatformTemplate[] | undefined>;
  stop?(): Promise<void>;
}

/** A channel with its secrets in the clear, for as long as a call takes. */
export interface OpenChannel {
  workspaceId: string;
  id: string;
  type: ChannelType;
  settings: PlainSettings;
  secrets: Secrets;
}

export interface Outgoing {
  channel: OpenChannel;
  /** `msg_…`, the same on every attempt: what a platform can recognise a repeat by. */
  id: string;
  conversationId: string;
  content: string;
  attachments: Attachment[];
  template: Template | null;
  to: Recipient;
  sender: { type: string; id: string; name: string };
  createdAt: string;
}

export interface Template {
  name: string;
  language: string;
  body: string;
  variables: Record<string, unknown>;
}

/** The platform did not give what was asked for. Its message is for whoever asked. */
export class PlatformError extends Error {}

export interface PlatformTemplate {
  externalId: string;
  name: string;
  language: string;
  body: string;
  category: string | null;
  status: TemplateStatus;
}

export interface Recipient {
  contactId: string;
  /** What the platform calls the customer, as it came with a message of theirs. */
  externalId: string | null;
  name: string;
  phone: string | null;
  email: string | null;
}

export type SendResult =
  | { outcome: 'sent'; externalId?: string | undefined }
  | Retry
  | { outcome: 'failed'; reason: string };

/** It may go through later. */
export interface Retry {
  outcome: 'retry';
  /** For the agent, should it never. */
  reason: string;
  timedOut?: boolean;
  /** The platform may have taken it: time is given for its report, before it is sent again. */
  uncertain?: boolean;
  /** No sooner, the platform said. */
  afterSeconds?: number | undefined;
}

export interface PlatformWebhook {
  /** The answer to the platform's question whether this URL is ours; undefined: it does not know the secret. */
  handshake(channel: OpenChannel, query: Record<string, string>): string | undefined;
  /** Whether these bytes come from the platform. */
  verify(channel: OpenChannel, headers: IncomingHttpHeaders, body: Buffer): boolean;
  /** What they say. Whatever cannot be understood is ignored by name, never an error. */
  parse(channel: OpenChannel, body: unknown): Inbound;
}

export interface Inbound {
  messages: InboundFromPlatform[];
  statuses: StatusReport[];
  /** What was left aside, for the log and the metric. */
  ignored: string[];
}

export interface InboundFromPlatform {
  externalId: string;
  from: {
    externalId: string;
    /** The ways their phone number may be written, the likeliest first; empty: they have none. */
    phones: string[];
    name: string | null;
  };
  content: string;
  media: { externalId: string; contentType: string; fileName: string }[];
  /** When the customer wrote it, which may be long before it came. */
  sentAt: Date;
}

export interface StatusReport {
  externalId: string;
  /** Our own id of the message (`msg_…`), where the platform gives it back. */
  messageId: string | undefined;
  status: Exclude<DeliveryStatus, 'queued'>;
  error: string | null;
}

export interface Media {
  contentType: string;
  bytes: number | undefined;
  stream: Readable;
}
