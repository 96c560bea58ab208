import Type, { type Static } from 'typebox';
import { cursorQuery, pageQuery } from '../../page.ts';
import { Id, IdInput, Timestamp } from '../../schema.ts';
import { templateVariables } from '../schema.ts';

const messageTypes = ['incoming', 'outgoing', 'activity'] as const;
export type MessageType = (typeof messageTypes)[number];

const deliveryStatuses = ['queued', 'sent', 'delivered', 'read', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

export const Attachment = Type.Object({
  url: Type.String(),
  content_type: Type.String(),
  file_name: Type.String(),
});
export type Attachment = Static<typeof Attachment>;

/** An attachment in a request. Whoever shows one may trust that its URL is one. */
export const AttachmentInput = Type.Object({
  url: Type.String({
    maxLength: 2048,
    pattern: '^https?://[^\\s]+$',
    'x-rule': 'must be an http or https URL',
  }),
  content_type: Type.String({
    maxLength: 255,
    pattern: '^[\\w.+-]+/[\\w.+-]+( *;[ -~]*)?$',
    'x-rule': 'must be a media type such as image/png',
  }),
  file_name: Type.String({
    maxLength: 255,
    pattern: '^[^\\u0000-\\u001f\\u007f]+$',
    'x-rule': 'must be a name without line breaks and other control characters',
  }),
});

const nullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] });

export const Message = Type.Object(
  {
    id: Id('message'),
    type: Type.Unsafe<MessageType>({ type: 'string', enum: [...messageTypes] }),
    content: Type.String(),
    sender: Type.Object({
      type: Type.Unsafe<'contact' | 'agent' | 'bot'>({ type: 'string', enum: ['contact', 'agent', 'bot'] }),
      id: Type.String(),
      name: Type.String(),
    }),
    attachments: Type.Array(Attachment),
    private: Type.Boolean({ description: 'An internal note, never shown to the customer.' }),
    status: Type.Unsafe<DeliveryStatus | null>({
      type: ['string', 'null'],
      enum: [...deliveryStatuses, null],
      description: 'How far an outgoing message has come; null for everything else.',
    }),
    error: { ...nullableText, description: 'Why it failed, for a person to read.' } as typeof nullableText,
    created_at: Timestamp,
  },
  { $id: 'Message' },
);
export type Message = Static<typeof Message>;

export const NewMessage = Type.Object({
  content: Type.Optional(
    Type.String({ description: 'Text. Required unless a template or attachments are sent.' }),
  ),
  template_id: Type.Optional(IdInput('an approved template')),
  template_variables: templateVariables,
  attachments: Type.Optional(
    Type.Array(AttachmentInput, {
      maxItems: 10,
      description: 'Files to send, by public URL. `content` may be left out then.',
    }),
  ),
  private: Type.Optional(Type.Boolean({ default: false, description: 'true: an internal note.' })),
});
export type NewMessage = Static<typeof NewMessage>;

export const defaultPerPage = 50;

export const MessageQuery = Type.Object({
  order: Type.Optional(
    Type.Unsafe<'asc' | 'desc'>({
      type: 'string',
      enum: ['asc', 'desc'],
      default: 'asc',
      description: '`asc`, oldest first; `desc`, newest first.',
    }),
  ),
  ...pageQuery(defaultPerPage),
  ...cursorQuery,
});
