import { errorCodes, titleOf } from './errors.ts';
import type { Platform } from './graph.ts';
import { hasOpenWindow, type ReceivedMessage, type SentMessage, type Store } from './store.ts';
import { renderTemplate } from './templates.ts';
import { asText, isObject } from './values.ts';

const messagesShown = 300;
const webhooksShown = 100;

/** What the page shows. */
export function snapshot({ store, faults }: Platform) {
  const { settings, behaviour } = store;
  return {
    business: { name: settings.verifiedName, number: settings.displayPhoneNumber },
    webhookUrl: settings.webhookUrl,
    behaviour,
    customers: [...store.customers.values()].map(({ waId, name }) => ({
      waId,
      name,
      windowOpen: hasOpenWindow(store, waId),
    })),
    messages: [
      ...store.sent.map((message) => fromBusiness(store, message)),
      ...store.received.map((message) => fromCustomer(store, message)),
    ]
      .toSorted((one, other) => one.at.getTime() - other.at.getTime())
      .slice(-messagesShown),
    templates: store.templates.map(({ name, language, status }) => ({ name, language, status })),
    errorCodes,
    faults: faults.pending(),
    webhookLog: store.webhookLog.slice(-webhooksShown),
  };
}

function fromBusiness(store: Store, { wamid, to, type, body, at, status, errorCode }: SentMessage) {
  return {
    id: wamid,
    customer: to,
    mine: false,
    at,
    status,
    error: errorCode === undefined ? null : `${errorCode} ${titleOf(errorCode)}`,
    ...displayOf(store, type, body[type]),
  };
}

function fromCustomer(store: Store, { wamid, from, message, at, readByBusiness }: ReceivedMessage) {
  const type = asText(message['type']);
  return {
    id: wamid,
    customer: from,
    mine: true,
    at,
    status: readByBusiness ? 'read' : 'delivered',
    error: null,
    ...displayOf(store, type, message[type]),
  };
}

function displayOf(store: Store, type: string, content: unknown) {
  const fields = isObject(content) ? content : {};
  const media = store.media.get(asText(fields['id']));
  return {
    type,
    text: textOf(store, type, fields),
    link: typeof fields['link'] === 'string' ? fields['link'] : null,
    file: media ? { id: media.id, mime: media.mime, name: media.filename ?? type } : null,
  };
}

function textOf(store: Store, type: string, fields: Record<string, unknown>): string {
  if (type === 'template') return renderTemplate(store, fields);
  if (type === 'location')
    return [
      fields['name'],
      fields['address'],
      `${asText(fields['latitude'])}, ${asText(fields['longitude'])}`,
    ]
      .filter(Boolean)
      .join('\n');
  return asText(fields['body'] ?? fields['caption'] ?? fields['emoji'] ?? fields['text']);
}
