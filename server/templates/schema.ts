import Type, { type Static } from 'typebox';
import { archived, archivedInput } from '../http/archivable.ts';
import { Id, Name, NullableIdInput, Timestamp } from '../schema.ts';

const statuses = ['approved', 'pending', 'rejected'] as const;
export type TemplateStatus = (typeof statuses)[number];

const status = Type.Unsafe<TemplateStatus>({ type: 'string', enum: [...statuses] });

export const Template = Type.Object(
  {
    id: Id('template'),
    name: Type.String(),
    language: Type.String(),
    body: Type.String(),
    status,
    channel_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'The only channel that may use it; null: every channel.',
    }),
    category: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'How the platform files it, such as `UTILITY`; null where no platform does.',
    }),
    archived,
    created_at: Timestamp,
  },
  { $id: 'Template' },
);
export type Template = Static<typeof Template>;

export const defaultLanguage = 'en';

const language = Type.String({
  maxLength: 35,
  pattern: '^[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8})*$',
  'x-rule': 'must be a language code such as en, pt_BR or zh-Hans',
});

const body = Type.String({
  maxLength: 10_000,
  pattern: '\\S',
  'x-rule': 'must be 1 to 10,000 characters and not blank',
  description: 'Placeholders are `{{name}}` or `{{1}}`; each needs a variable when the template is sent.',
});

const statusInput = Type.Optional(
  Type.Unsafe<TemplateStatus>({
    ...status,
    description:
      '`approved` when not given. On a channel whose platform approves templates (`whatsapp`) it cannot be set: ' +
      'it starts as `pending`, also after an edit, and the platform decides.',
  }),
);

const channelId = Type.Optional(NullableIdInput('the only channel that may use it'));

export const NewTemplate = Type.Object({
  name: Name,
  language: Type.Optional({ ...language, default: defaultLanguage }),
  body,
  status: statusInput,
  channel_id: channelId,
});
export type NewTemplate = Static<typeof NewTemplate>;

export const TemplateUpdate = Type.Object({
  name: Type.Optional(Name),
  language: Type.Optional(language),
  body: Type.Optional(body),
  status: statusInput,
  channel_id: channelId,
  archived: archivedInput,
});
export type TemplateUpdate = Static<typeof TemplateUpdate>;
