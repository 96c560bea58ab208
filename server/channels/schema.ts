import Type, { type Static } from 'typebox';
import { archived, archivedInput } from '../http/archivable.ts';
import { Id, Name, NullableText, Timestamp } from '../schema.ts';
import { type ChannelType, channelTypes, type PlainSetting, type SecretSetting } from './types.ts';

const type = Type.Unsafe<ChannelType>({ type: 'string', enum: Object.keys(channelTypes) });

const afterResolvedChoices = ['reopen', 'new'] as const;
export type AfterResolved = (typeof afterResolvedChoices)[number];

const afterResolved = Type.Unsafe<AfterResolved>({
  type: 'string',
  enum: [...afterResolvedChoices],
  description: 'What a message in a resolved conversation does: reopen it, or begin a new one.',
});

export const Channel = Type.Object(
  {
    id: Id('channel'),
    type,
    name: Type.String(),
    after_resolved: afterResolved,
    settings: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'The settings of this type; null where unset. Secrets are never shown: `has_…` tells if one is set.',
    }),
    archived,
    created_at: Timestamp,
  },
  { $id: 'Channel' },
);
export type Channel = Static<typeof Channel>;

const filled = { pattern: '\\S', 'x-rule': 'must not be empty; null removes it' };
const setting = (description: string) => Type.Optional(NullableText(255, { ...filled, description }));
const address = (description: string) => Type.Optional(NullableText(2_048, { ...filled, description }));
const secret = (description: string) =>
  Type.Optional(
    NullableText(4_096, { ...filled, description: `${description} Never shown.`, writeOnly: true }),
  );

const settings = {
  callback_url: address('`api`: the HTTPS URL that outgoing messages are sent to, each as a signed POST.'),
  secret: secret(
    '`api`: signs what is sent to `callback_url`. Without one, one is made and shown in that one answer.',
  ),
  phone_number_id: setting('`whatsapp`: the number that sends.'),
  business_account_id: setting('`whatsapp`: the account that holds the templates.'),
  api_base_url: address('`whatsapp`: where the Graph API is, when not at its usual HTTPS URL.'),
  access_token: secret('`whatsapp`: opens the Graph API.'),
  app_secret: secret('`whatsapp`: signs what the platform sends here.'),
  verify_token: secret('`whatsapp`: proves the handshake of the platform.'),
  allowed_origins: Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      maxItems: 50,
      items: { type: 'string', maxLength: 255 },
      description:
        '`webchat`: the origins of the pages that may show the widget, such as https://example.com.',
    }),
  ),
  identity_secret: secret('`webchat`: signs who a visitor is.'),
} satisfies Record<PlainSetting | SecretSetting, unknown>;

export const SettingsInput = Type.Object(settings, {
  description: 'The settings of the channel’s type; others are ignored. null removes one.',
});
export type SettingsInput = Static<typeof SettingsInput>;

export const NewChannel = Type.Object({
  type,
  name: Name,
  after_resolved: Type.Optional(Type.Unsafe<AfterResolved>({ ...afterResolved, default: 'reopen' })),
  settings: Type.Optional(SettingsInput),
});
export type NewChannel = Static<typeof NewChannel>;

export const ChannelUpdate = Type.Object({
  type: Type.Optional(
    Type.Unsafe<ChannelType>({ ...type, description: 'Cannot change; may be sent back as it was read.' }),
  ),
  name: Type.Optional(Name),
  after_resolved: Type.Optional(afterResolved),
  settings: Type.Optional(SettingsInput),
  archived: archivedInput,
});
export type ChannelUpdate = Static<typeof ChannelUpdate>;
