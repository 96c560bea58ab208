import Type, { type Static } from 'typebox';
import { cursorQuery, pageQuery } from '../page.ts';
import { emailRule, phoneRule } from '../rules.ts';
import { Id, Name, NameList, NullableText, Timestamp } from '../schema.ts';

export const Contact = Type.Object(
  {
    id: Id('contact'),
    name: Type.String(),
    phone: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    email: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    company: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    tags: Type.Array(Type.String()),
    custom_attributes: Type.Record(Type.String(), Type.Unknown()),
    created_at: Timestamp,
  },
  { $id: 'Contact' },
);
export type Contact = Static<typeof Contact>;

const fields = {
  phone: Type.Optional(NullableText(16, phoneRule)),
  email: Type.Optional(NullableText(320, emailRule)),
  company: Type.Optional(NullableText(255)),
  tags: Type.Optional(NameList('Tag')),
  custom_attributes: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      maxProperties: 100,
      description: 'Key/value pairs. A key the workspace has defined is checked against its type.',
    }),
  ),
};

export const NewContact = Type.Object({ name: Name, ...fields });
export type NewContact = Static<typeof NewContact>;

export const ContactUpdate = Type.Object({ name: Type.Optional(Name), ...fields });
export type ContactUpdate = Static<typeof ContactUpdate>;

export const defaultPerPage = 25;

export const ContactQuery = Type.Object({
  q: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'Part of a name, e-mail address or phone number, in any case.',
    }),
  ),
  tag: Type.Optional(Type.String({ maxLength: 255, description: 'Only contacts with this tag.' })),
  ...pageQuery(defaultPerPage),
  ...cursorQuery,
});
