import type { Inbound, InboundFromPlatform, OpenChannel, StatusReport } from '../connector.ts';
import { reasonOf } from './errors.ts';
import { phonesOf } from './numbers.ts';

/**
 * Reads what the platform sent. Nothing in it is taken for granted: what is missing or of another shape is left aside
 * under a name that tells which part it was.
 */
export function parse(channel: OpenChannel, body: unknown): Inbound {
  const inbound: Inbound = { messages: [], statuses: [], ignored: [] };
  const root = fieldsOf(body);
  if (root['object'] !== 'whatsapp_business_account') return { ...inbound, ignored: ['object'] };
  const changes = listOf(root['entry']).flatMap((entry) => listOf(entry['changes']));
  if (changes.length === 0) return { ...inbound, ignored: ['entry'] };
  for (const change of changes) readChange(channel, change, inbound);
  return inbound;
}

type Fields = Record<string, unknown>;

function readChange({ settings }: OpenChannel, change: Fields, inbound: Inbound): void {
  const value = fieldsOf(change['value']);
  if (change['field'] !== 'messages' || value['messaging_product'] !== 'whatsapp') {
    inbound.ignored.push('field');
    return;
  }
  if (textOf(fieldsOf(value['metadata'])['phone_number_id']) !== settings.phone_number_id) {
    inbound.ignored.push('phone_number_id');
    return;
  }
  if (!Array.isArray(value['messages']) && !Array.isArray(value['statuses'])) inbound.ignored.push('value');
  const names = new Map(
    listOf(value['contacts']).map(({ wa_id, profile }) => [textOf(wa_id), textOf(fieldsOf(profile)['name'])]),
  );
  for (const message of listOf(value['messages'])) {
    const read = messageOf(message, names);
    if (read) inbound.messages.push(read);
    else inbound.ignored.push('message');
  }
  for (const status of listOf(value['statuses'])) {
    const read = statusOf(status);
    if (read) inbound.statuses.push(read);
    else inbound.ignored.push('status');
  }
}

function messageOf(message: Fields, names: Map<string, string>): InboundFromPlatform | undefined {
  const [id, from, type] = [textOf(message['id']), textOf(message['from']), textOf(message['type'])];
  if (id === '' || id.length > 255 || !/^\d{5,20}$/.test(from) || type === '') return undefined;
  const part = fieldsOf(message[type]);
  const text = contentOf(type, part, message);
  const isBlank = text.trim() === '';
  const media = mediaTypes.has(type) ? mediaOf(type, part) : [];
  return {
    externalId: id,
    from: {
      externalId: from,
      phones: phonesOf(from),
      name: cut(names.get(from)?.trim() ?? '') || null,
    },
    // What we cannot show is told, not dropped: the customer did write something.
    content: isBlank ? (media.length === 0 ? `[${cut(type)}]` : '') : text,
    media,
    sentAt: timeOf(message['timestamp']),
  };
}

/** What is no time, or not yet, is now. */
function timeOf(timestamp: unknown): Date {
  const seconds = typeof timestamp === 'string' && /^\d+$/.test(timestamp) ? Number(timestamp) : Infinity;
  return new Date(Math.min(seconds * 1000, Date.now()));
}

const mediaTypes = new Set(['image', 'audio', 'video', 'document', 'sticker']);

/** What a person reads. */
function contentOf(type: string, part: Fields, message: Fields): string {
  switch (type) {
    case 'text':
      return textOf(part['body']);
    case 'location':
      return locationOf(part);
    case 'button':
      return textOf(part['text']);
    case 'interactive':
      return interactiveOf(part);
    case 'reaction':
      return textOf(part['emoji']);
    case 'contacts':
      return listOf(message['contacts']).map(contactOf).join('\n');
    default:
      return mediaTypes.has(type) ? textOf(part['caption']) : '';
  }
}

function locationOf({ latitude, longitude, name, address }: Fields): string {
  const place = [textOf(name), textOf(address)].filter((text) => text !== '').join(', ');
  const isPoint = typeof latitude === 'number' && typeof longitude === 'number';
  const point = isPoint ? `https://maps.google.com/?q=${latitude},${longitude}` : '';
  return [place, point].filter((text) => text !== '').join('\n');
}

function interactiveOf(part: Fields): string {
  const reply = fieldsOf(part[textOf(part['type'])]);
  return [textOf(reply['title']), textOf(reply['description'])].filter((text) => text !== '').join('\n');
}

function contactOf(contact: Fields): string {
  const name = textOf(fieldsOf(contact['name'])['formatted_name']);
  return [name, ...listOf(contact['phones']).map(({ phone }) => textOf(phone))]
    .filter((text) => text !== '')
    .join(' ');
}

function mediaOf(type: string, part: Fields): InboundFromPlatform['media'] {
  const externalId = textOf(part['id']);
  if (externalId === '' || externalId.length > 255) return [];
  const contentType = cut(textOf(part['mime_type'])) || 'application/octet-stream';
  const fileName = cut(textOf(part['filename'])) || `${type}.${extensionOf(contentType)}`;
  return [{ externalId, contentType, fileName }];
}

const extensionOf = (contentType: string): string =>
  /\/(?:x-)?([a-z0-9]{1,8})/i.exec(contentType)?.[1]?.replace('jpeg', 'jpg') ?? 'bin';

const statuses = new Map<string, StatusReport['status']>([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  ['played', 'read'], // a voice message
  ['failed', 'failed'],
]);

function statusOf(report: Fields): StatusReport | undefined {
  const status = statuses.get(textOf(report['status']));
  const externalId = textOf(report['id']);
  if (status === undefined || externalId === '' || externalId.length > 255) return undefined;
  const [error] = listOf(report['errors']);
  return {
    externalId,
    messageId: textOf(report['biz_opaque_callback_data']) || undefined,
    status,
    error: status === 'failed' ? reasonOf(error) : null,
  };
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);

/** What PostgreSQL cannot hold is replaced here and not refused: the platform would send it again for days. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\uFFFD') : '';

/** As long as a name may be, and never half a character. */
const cut = (text: string): string => Array.from(text.slice(0, 512)).slice(0, 255).join('');
