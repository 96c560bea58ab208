import Type, { type Static } from 'typebox';
import { type EventType, eventTypes } from '../../events/names.ts';
import { pageQuery } from '../../page.ts';
import { Id, NullableTimestamp, Timestamp } from '../../schema.ts';

export const states = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export type State = (typeof states)[number];

const StateSchema = Type.Unsafe<State>({ type: 'string', enum: [...states] });
const EventName = Type.Unsafe<EventType>({ type: 'string', enum: [...eventTypes] });

const fields = {
  id: Id('delivery'),
  webhook_id: Id('webhook'),
  event: EventName,
  event_id: Id('event'),
  state: StateSchema,
  next_attempt_at: NullableTimestamp,
  redelivery_of: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  created_at: Timestamp,
};

export const Delivery = Type.Object(
  { ...fields, attempts: Type.Integer({ description: 'How many attempts were made.' }) },
  { $id: 'Delivery' },
);
export type Delivery = Static<typeof Delivery>;

const Attempt = Type.Object({
  n: Type.Integer(),
  at: Timestamp,
  duration_ms: Type.Integer(),
  status: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'HTTP status of the answer.',
  }),
  error: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description:
      'Class of the failure: timeout, dns, tls, refused, connection, protocol, blocked_address or status; null: delivered.',
  }),
  response: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'First 8 KiB of the answer.',
  }),
});
export type Attempt = Static<typeof Attempt>;

export const DeliveryDetail = Type.Object(
  {
    ...fields,
    attempts: Type.Array(Attempt),
    body: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'The exact text that is signed and sent; null once the event is past its retention.',
    }),
  },
  { $id: 'DeliveryDetail' },
);
export type DeliveryDetail = Static<typeof DeliveryDetail>;

export const defaultPerPage = 25;

export const DeliveryQuery = Type.Object({
  state: Type.Optional(StateSchema),
  event: Type.Optional(EventName),
  ...pageQuery(defaultPerPage),
});

export const RecoverRequest = Type.Object({
  since: Type.String({
    format: 'date-time',
    'x-rule': 'must be a timestamp such as 2026-11-15T09:30:00.000Z',
    description: 'What failed for good at this time or later is tried again.',
  }),
});

export const Recovered = Type.Object({
  recovered: Type.Integer({ description: 'How many new deliveries were opened.' }),
  has_more: Type.Boolean({
    description: 'true: more than one call can take; call again with the same time.',
  }),
});

export const TestRequest = Type.Object({
  event: Type.Optional(
    Type.Unsafe<EventType>({
      type: 'string',
      enum: [...eventTypes],
      contentRule: true,
      description: 'Which event to send a sample of; default: the first one the webhook subscribed to.',
    }),
  ),
});
