import type { IncomingHttpHeaders } from 'node:http';
import { GraphError } from './errors.ts';
import { newWamid, waIdOf } from './ids.ts';
import type { Statuses } from './statuses.ts';
import {
  changed,
  customerOf,
  hasOpenWindow,
  type MessageBody,
  type SentMessage,
  type Store,
} from './store.ts';
import { checkTemplate } from './templates.ts';
import { asText, countCharacters, isObject } from './values.ts';

export function postMessage(
  platform: { store: Store; statuses: Statuses },
  body: MessageBody | null,
  headers: IncomingHttpHeaders,
): Record<string, unknown> {
  if (body?.['messaging_product'] !== 'whatsapp')
    throw new GraphError(100, { message: 'The parameter messaging_product is required.' });
  if (body['status'] === 'read') return markReceivedAsRead(platform.store, body);
  return send(platform, body, headers);
}

function send(
  { store, statuses }: { store: Store; statuses: Statuses },
  body: MessageBody,
  headers: IncomingHttpHeaders,
): Record<string, unknown> {
  const to = recipientOf(store, body);
  const type = checkContent(store, body);
  checkCallbackData(body);
  const isOutsideWindow =
    store.behaviour.windowErrors !== 'off' && type !== 'template' && !hasOpenWindow(store, to);
  if (isOutsideWindow && store.behaviour.windowErrors === 'response') throw new GraphError(131047);

  const message: SentMessage = {
    wamid: newWamid(to, 'out'),
    to,
    type,
    body,
    headers,
    at: new Date(),
    status: 'accepted',
  };
  customerOf(store, to);
  store.sent.push(message);
  changed(store);
  statuses.follow(message, isOutsideWindow ? 131047 : undefined);
  return {
    messaging_product: 'whatsapp',
    contacts: [{ input: body.to, wa_id: to }],
    messages: [{ id: message.wamid, ...(type === 'template' && { message_status: 'accepted' }) }],
  };
}

function markReceivedAsRead(store: Store, body: MessageBody): { success: true } {
  const read = store.received.find(({ wamid }) => wamid === body['message_id']);
  if (!read) throw new GraphError(131009, { details: 'message_id is not a message of a customer' });
  for (const message of store.received)
    if (message.from === read.from && message.at <= read.at) message.readByBusiness = true;
  changed(store);
  return { success: true };
}

function recipientOf({ settings }: Store, { to }: MessageBody): string {
  if (typeof to !== 'string' || to === '')
    throw new GraphError(100, { message: 'The parameter to is required.' });
  const waId = waIdOf(to);
  if (/[^\d\s()+.-]/.test(to) || waId.length < 7 || waId.length > 15)
    throw new GraphError(131009, { details: 'Recipient phone number is not valid' });
  if (waId === waIdOf(settings.displayPhoneNumber)) throw new GraphError(131021);
  return waId;
}

const mediaTypes = new Set(['image', 'audio', 'video', 'document', 'sticker']);
const otherTypes = new Set(['text', 'template', 'location', 'interactive', 'reaction']);

/** Answers the type of a message whose content is in order. */
function checkContent(store: Store, body: MessageBody): string {
  const type = body.type ?? 'text';
  if (typeof type !== 'string' || !(mediaTypes.has(type) || otherTypes.has(type) || type === 'contacts'))
    throw new GraphError(100, { message: 'Param type must be one of the supported message types.' });
  if (type === 'contacts') {
    if (!Array.isArray(body['contacts'])) throw missing('contacts');
    return type;
  }
  const content = body[type];
  if (!isObject(content)) throw missing(type);
  if (type === 'text') checkText('text', 'body', content['body'], 4096);
  if (type === 'template') checkTemplate(store, content);
  if (type === 'location') checkLocation(content);
  if (mediaTypes.has(type)) checkMedia(store, type, content);
  return type;
}

function checkText(type: string, field: string, text: unknown, longest: number): void {
  if (typeof text !== 'string' || text.trim() === '')
    throw new GraphError(100, { message: `The parameter ${type}['${field}'] is required.` });
  if (countCharacters(text) > longest)
    throw new GraphError(100, {
      message: `Param ${type}['${field}'] must be at most ${longest} characters long.`,
    });
}

function checkLocation({ latitude, longitude }: Record<string, unknown>): void {
  const isWithin = (value: unknown, bound: number) =>
    (typeof value === 'number' || typeof value === 'string') && Math.abs(Number(value)) <= bound;
  if (!isWithin(latitude, 90) || !isWithin(longitude, 180))
    throw new GraphError(131009, { details: 'latitude and longitude must be coordinates' });
}

function checkMedia(store: Store, type: string, { id, link, caption }: Record<string, unknown>): void {
  if ((id === undefined) === (link === undefined))
    throw new GraphError(131008, { details: `${type} must have exactly one of id and link` });
  if (id !== undefined && !store.media.has(asText(id)))
    throw new GraphError(131009, { details: `${type}: media ID ${asText(id)} does not exist` });
  if (link !== undefined && (typeof link !== 'string' || !/^https?:\/\//i.test(link)))
    throw new GraphError(100, { message: `Param ${type}['link'] is not a valid URL.` });
  if (caption === undefined) return;
  if (type === 'audio' || type === 'sticker')
    throw new GraphError(100, { message: `Unexpected key "caption" on param "${type}".` });
  checkText(type, 'caption', caption, 1024);
}

function checkCallbackData({ biz_opaque_callback_data: data }: MessageBody): void {
  if (data === undefined) return;
  if (typeof data !== 'string' || countCharacters(data) > 512)
    throw new GraphError(100, {
      message: 'Param biz_opaque_callback_data must be a text of at most 512 characters.',
    });
}

function missing(type: string): GraphError {
  return new GraphError(100, { message: `The parameter ${type} is required.` });
}
