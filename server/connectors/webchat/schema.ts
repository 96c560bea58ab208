import Type, { type Static } from 'typebox';
import { Attachment } from '../../conversations/messages/schema.ts';
import { Id, Timestamp } from '../../schema.ts';

export const NewSession = Type.Object({
  token: Type.Optional(
    Type.String({ maxLength: 2_048, description: 'Of the session so far; it is renewed while it is valid.' }),
  ),
  user: Type.Optional(
    Type.Object(
      {
        id: Type.String({ minLength: 1, maxLength: 128, description: 'What your site calls the user.' }),
        hash: Type.String({
          maxLength: 64,
          pattern: '^[0-9a-fA-F]{64}$',
          'x-rule': 'must be the hexadecimal HMAC-SHA256 of user.id',
          description: 'Hexadecimal HMAC-SHA256 of `id`, keyed with the `identity_secret` of the channel.',
        }),
        name: Type.Optional(Type.String({ maxLength: 255, description: 'Used when a contact is created.' })),
      },
      { description: 'A user your own server vouches for. Left out: an anonymous visitor.' },
    ),
  ),
});
export type NewSession = Static<typeof NewSession>;

export const Session = Type.Object({
  token: Type.String({ description: 'For the Authorization header of the other three operations.' }),
  expires_at: Timestamp,
  name: Type.String({ description: 'What a new contact would be called.' }),
  identified: Type.Boolean({ description: 'Whether your server vouched for the user.' }),
});

export const WebchatMessage = Type.Object(
  {
    id: Id('message'),
    from: Type.Unsafe<'visitor' | 'agent'>({ type: 'string', enum: ['visitor', 'agent'] }),
    author: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Name of the agent, or of the API key of a bot; null for the visitor.',
    }),
    content: Type.String(),
    attachments: Type.Array(Attachment),
    created_at: Timestamp,
  },
  { $id: 'WebchatMessage' },
);
export type WebchatMessage = Static<typeof WebchatMessage>;

export const NewWebchatMessage = Type.Object({
  content: Type.String({ description: 'Text, at most 10,000 characters.' }),
  external_id: Type.Optional(
    Type.String({
      maxLength: 64,
      pattern: '^[\\w-]+$',
      'x-rule': 'must be letters, digits, - and _, such as a UUID',
      description: 'What the browser calls this message. A repeat is stored once.',
    }),
  ),
});

export const HistoryQuery = Type.Object({
  before: Type.Optional(Type.String({ description: '`before` of the page after this one.' })),
});

export const History = Type.Object({
  messages: Type.Array(Type.Ref('WebchatMessage#')),
  before: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Asks for the page before this one; null: there is none.',
  }),
  cursor: Type.String({ description: '`after` of a stream that carries on from here.' }),
});

export const EventsQuery = Type.Object({
  after: Type.Optional(Type.String({ description: 'A cursor; the header Last-Event-ID goes before it.' })),
});
