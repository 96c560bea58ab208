import { epochSeconds, newWamid, waIdOf } from './ids.ts';
import { sha256 } from './media.ts';
import { addMedia, changed, customerOf, type Store } from './store.ts';
import { type Webhooks, webhookPayload } from './webhooks.ts';

export interface CustomerFile {
  bytes: Uint8Array;
  mime: string;
  caption?: string;
  filename?: string;
  /** Of an audio: a voice note. */
  voice?: boolean;
  /** Of a sticker. */
  animated?: boolean;
}

/** One of the contents; `raw` is a message as Meta has it, of which `from`, `id` and `timestamp` are filled in. */
export interface CustomerMessage {
  from: string;
  /** Remembered per number; null for a customer without a profile name. */
  name?: string | null;
  /** When it was written; now unless told. It opens the 24 hours. */
  at?: Date;
  /** The wamid of the message it answers. */
  replyTo?: string;
  text?: string;
  image?: CustomerFile;
  audio?: CustomerFile;
  video?: CustomerFile;
  document?: CustomerFile;
  sticker?: CustomerFile;
  location?: { latitude: number; longitude: number; name?: string; address?: string; url?: string };
  button?: { text: string; payload: string };
  interactive?: Record<string, unknown>;
  contacts?: Record<string, unknown>[];
  reaction?: { message_id: string; emoji?: string };
  raw?: Record<string, unknown>;
}

/** All in one webhook, as Meta batches them; resolves with the wamids once it was answered, or not. */
export async function customersSend(
  store: Store,
  webhooks: Webhooks,
  inputs: CustomerMessage[],
): Promise<string[]> {
  const received = inputs.map((input) => receive(store, input));
  const writers = [...new Set(received.map(({ from }) => from))];
  changed(store);
  const payload = webhookPayload(store.settings, {
    contacts: writers.map((waId) => contactOf(store, waId)),
    messages: received.map(({ message }) => message),
  });
  await webhooks.post(payload, { retry: true });
  return received.map(({ wamid }) => wamid);
}

function receive(store: Store, input: CustomerMessage) {
  const from = waIdOf(input.from);
  const wamid = newWamid(from, 'in');
  const at = input.at ?? new Date();
  const customer = customerOf(store, from);
  if (input.name !== undefined) customer.name = input.name;
  if (customer.lastMessageAt === null || customer.lastMessageAt < at) customer.lastMessageAt = at;
  const message = {
    ...(input.replyTo !== undefined && {
      context: { from: waIdOf(store.settings.displayPhoneNumber), id: input.replyTo },
    }),
    from,
    id: wamid,
    timestamp: epochSeconds(at),
    ...contentOf(store, input),
  };
  const received = { wamid, from, message, at, readByBusiness: false };
  store.received.push(received);
  return received;
}

const fileTypes = ['image', 'audio', 'video', 'document', 'sticker'] as const;
const plainTypes = ['location', 'button', 'interactive', 'contacts', 'reaction'] as const;

function contentOf(store: Store, input: CustomerMessage): Record<string, unknown> {
  if (input.raw) return input.raw;
  if (input.text !== undefined) return { text: { body: input.text }, type: 'text' };
  for (const type of fileTypes) {
    const file = input[type];
    if (file) return { type, [type]: describeFile(store, type, file) };
  }
  for (const type of plainTypes) if (input[type]) return { [type]: input[type], type };
  throw new Error("a customer's message needs text, a file, a location or another content");
}

function describeFile(store: Store, type: string, file: CustomerFile): Record<string, unknown> {
  const { caption, filename, mime, voice = false, animated = false } = file;
  const named = filename !== undefined && { filename };
  const media = addMedia(store, { bytes: Buffer.from(file.bytes), mime, ...named });
  return {
    ...(caption !== undefined && { caption }),
    ...(type === 'document' && named),
    mime_type: mime,
    sha256: sha256(media.bytes).toString('base64'),
    id: media.id,
    ...(type === 'audio' && { voice }),
    ...(type === 'sticker' && { animated }),
  };
}

function contactOf(store: Store, waId: string): Record<string, unknown> {
  const { name } = customerOf(store, waId);
  return { ...(name !== null && { profile: { name } }), wa_id: waId };
}
