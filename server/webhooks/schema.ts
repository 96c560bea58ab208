import Type, { type Static } from 'typebox';
import { type EventType, eventTypes } from '../events/names.ts';
import { pageQuery } from '../page.ts';
import { Id, Timestamp } from '../schema.ts';

const EventList = Type.Array(
  Type.Unsafe<EventType>({
    type: 'string',
    enum: [...eventTypes],
    contentRule: true, // an unknown name is a 422, not a 400
  }),
  { minItems: 1, maxItems: 50, description: 'Event types to receive.' },
);

const fields = {
  id: Id('webhook'),
  url: Type.String(),
  events: Type.Array(Type.Unsafe<EventType>({ type: 'string', enum: [...eventTypes] })),
  failing_since: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'Since when every attempt has failed; null: the last one succeeded, or there was none.',
  }),
  created_at: Timestamp,
};

export const Webhook = Type.Object(fields, { $id: 'Webhook' });
export type Webhook = Static<typeof Webhook>;

export const WebhookWithSecret = Type.Object(
  { ...fields, secret: Type.String({ description: 'The signing secret. Shown in this answer only.' }) },
  { $id: 'WebhookWithSecret' },
);
export type WebhookWithSecret = Static<typeof WebhookWithSecret>;

const url = Type.String({ description: 'The HTTPS URL that receives the events.' });

export const NewWebhook = Type.Object({ url, events: EventList });
export type NewWebhook = Static<typeof NewWebhook>;

export const WebhookUpdate = Type.Object({ url: Type.Optional(url), events: Type.Optional(EventList) });
export type WebhookUpdate = Static<typeof WebhookUpdate>;

export const defaultPerPage = 25;

export const WebhookQuery = Type.Object(pageQuery(defaultPerPage));
