import Type, { type TSchema } from 'typebox';
import { type EventType, eventTypes } from '../../events/names.ts';
import { idPattern } from '../../ids.ts';
import { Id, Timestamp } from '../../schema.ts';
import type { Operation, Parameter } from './types.ts';

/** The webhooks part of the document: what this service sends. */

const ref = (name: string) => Type.Ref(`${name}#`);
const nullableString = Type.Unsafe<string | null>({ type: ['string', 'null'] });

const changed = (schema: TSchema) => Type.Optional(Type.Object({ from: schema, to: schema }));
const named = Type.Unsafe<object | null>({
  anyOf: [Type.Object({ id: Type.String(), name: Type.String() }), { type: 'null' }],
});

const conversationChanges = Type.Object(
  {
    status: changed(Type.String()),
    assignee: changed(named),
    team: changed(named),
    labels: changed(Type.Array(Type.String())),
  },
  { description: 'What changed, each with its value before and after.' },
);

const contactChanges = Type.Object(
  {
    name: changed(Type.String()),
    phone: changed(nullableString),
    email: changed(nullableString),
    company: changed(nullableString),
    tags: changed(Type.Array(Type.String())),
    custom_attributes: changed(Type.Record(Type.String(), Type.Unknown())),
  },
  { description: 'What changed, each with its value before and after.' },
);

const message = Type.Object({
  id: Id('message'),
  type: Type.Unsafe<string>({ type: 'string', enum: ['incoming', 'outgoing', 'activity'] }),
  content: Type.String(),
  created_at: Timestamp,
  private: Type.Boolean({ description: 'An internal note.' }),
  sender: Type.Object({ type: Type.String(), id: Type.String(), name: Type.String() }),
});

interface Described {
  schema: string;
  when: string;
  data: TSchema;
}

const described: Record<EventType, Described> = {
  'conversation.created': {
    schema: 'ConversationCreated',
    when: 'A new conversation is created.',
    data: Type.Object({ conversation: ref('Conversation') }),
  },
  'conversation.updated': {
    schema: 'ConversationUpdated',
    when: 'The status, assignee, team or labels of a conversation change. One change raises one event.',
    data: Type.Object({ conversation: ref('Conversation'), changes: conversationChanges }),
  },
  'conversation.resolved': {
    schema: 'ConversationResolved',
    when: 'A conversation is marked resolved. Its `conversation.updated` is sent too.',
    data: Type.Object({ conversation: ref('Conversation') }),
  },
  'message.created': {
    schema: 'MessageCreated',
    when: 'A message is sent or received in any conversation. Internal notes have `private: true`.',
    data: Type.Object({
      message,
      conversation: Type.Object({ id: Id('conversation'), status: Type.String() }),
      contact: Type.Object({ id: Id('contact'), name: Type.String(), phone: nullableString }),
      channel: Type.Object({ id: Id('channel'), type: Type.String() }),
    }),
  },
  'contact.created': {
    schema: 'ContactCreated',
    when: 'A new contact is created.',
    data: Type.Object({ contact: ref('Contact') }),
  },
  'contact.updated': {
    schema: 'ContactUpdated',
    when: 'The details of a contact change. Sending what is already there raises nothing.',
    data: Type.Object({ contact: ref('Contact'), changes: contactChanges }),
  },
};

/** The envelope of each event. */
export const eventSchemas = eventTypes.map((type) =>
  Type.Object(
    {
      id: Type.String({
        pattern: idPattern('event'),
        description: 'The same on every retry: use it to drop repeats.',
      }),
      event: Type.Literal(type),
      timestamp: Timestamp,
      workspace_id: Id('workspace'),
      data: described[type].data,
      test: Type.Optional(
        Type.Literal(true, { description: 'Only on a sample that `POST /webhooks/{id}/test` sent.' }),
      ),
    },
    { $id: `${described[type].schema}Event`, description: described[type].when },
  ),
);

const header = (name: string, description: string, required = true): Parameter => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
});

const deliveryHeaders = [
  header(
    'X-Service-Signature',
    '`sha256=` and the hexadecimal HMAC-SHA256 of the raw body, keyed with the secret.',
  ),
  header(
    'X-Service-Signature-Previous',
    'The same with the secret before, for 24 hours after a rotation.',
    false,
  ),
  header('X-Service-Event', 'The event type.'),
  header('X-Service-Delivery', 'Id of the delivery, the same on every retry.'),
  header('X-Service-Attempt', 'Which attempt this is, from 1.'),
  header('webhook-id', 'Standard Webhooks: id of the event.'),
  header('webhook-timestamp', 'Standard Webhooks: when this attempt was signed, in epoch seconds.'),
  header('webhook-signature', 'Standard Webhooks: `v1,` and a signature over id, timestamp and body.'),
];

export function eventOperation(type: EventType): Operation {
  const { schema, when } = described[type];
  return {
    operationId: `on${schema}`,
    summary: type,
    description: when,
    tags: ['Events'],
    security: [],
    parameters: deliveryHeaders,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}Event` } } },
    },
    responses: {
      '2XX': { description: 'Received. Any 2xx status within 10 seconds ends the delivery.' },
      '4XX': { description: 'Not accepted, for example because the signature is wrong: sent again later.' },
    },
  };
}
