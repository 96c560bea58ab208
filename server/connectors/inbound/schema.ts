import Type, { type Static } from 'typebox';
import { emailRule, phoneRule } from '../../rules.ts';
import { NullableText } from '../../schema.ts';
import { AttachmentInput } from '../../conversations/messages/schema.ts';

const filled = { minLength: 1, maxLength: 255 };

export const InboundMessage = Type.Object({
  from: Type.Object(
    {
      external_id: Type.Optional(
        Type.String({ ...filled, description: 'Who the customer is on this channel.' }),
      ),
      phone: Type.Optional(NullableText(16, phoneRule)),
      email: Type.Optional(NullableText(320, emailRule)),
      name: Type.Optional(NullableText(255, { description: 'Used when a contact is created.' })),
    },
    { description: 'The customer: at least one of `external_id`, `phone` and `email`.' },
  ),
  content: Type.Optional(Type.String({ description: 'Text. May be left out when there are attachments.' })),
  attachments: Type.Optional(Type.Array(AttachmentInput, { maxItems: 10 })),
  external_id: Type.Optional(
    Type.String({
      ...filled,
      description: 'What the other side calls this message. A repeat is stored once.',
    }),
  ),
});
export type InboundMessage = Static<typeof InboundMessage>;

export const InboundResult = Type.Object({
  message: Type.Ref('Message#'),
  conversation: Type.Ref('Conversation#'),
  contact: Type.Ref('Contact#'),
});
