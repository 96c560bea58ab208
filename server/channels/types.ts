const whatsappMedia = [
  'image/jpeg',
  'image/png',
  'audio/aac',
  'audio/amr',
  'audio/mpeg',
  'audio/mp4',
  'audio/ogg',
  'video/mp4',
  'video/3gpp',
  'text/plain',
  'application/pdf',
  'application/msword',
  'application/vnd.ms-excel',
  'application/vnd.ms-powerpoint',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
];

/** What each kind of channel can do. A new kind is a new row here and a connector. */
export const channelTypes: Record<ChannelType, ChannelTypeFacts> = {
  api: {
    windowHours: null,
    maxTextLength: 10_000,
    approvesTemplates: false,
    attachments: { most: 10, types: null },
    settings: ['callback_url'],
    secrets: ['secret'],
  },
  whatsapp: {
    windowHours: 24,
    maxTextLength: 4_096,
    approvesTemplates: true,
    attachments: { most: 1, types: whatsappMedia, maxCaptionLength: 1_024, captionless: 'audio/' },
    settings: ['phone_number_id', 'business_account_id', 'api_base_url'],
    secrets: ['access_token', 'app_secret', 'verify_token'],
  },
  webchat: {
    windowHours: null,
    maxTextLength: 10_000,
    approvesTemplates: false,
    attachments: { most: 10, types: null },
    settings: ['allowed_origins'],
    secrets: ['identity_secret'],
  },
};

export type ChannelType = 'api' | 'whatsapp' | 'webchat';

export interface ChannelTypeFacts {
  /** How long after the customer's last message free text may be sent; null: always. */
  windowHours: number | null;
  maxTextLength: number;
  /** Whether a platform decides which templates may be sent. */
  approvesTemplates: boolean;
  /** How many files one message may carry, of which types (null: any), and what text beside them. */
  attachments: {
    most: number;
    types: readonly string[] | null;
    maxCaptionLength?: number;
    /** The beginning of the types that carry none. */
    captionless?: string;
  };
  /** Settings that are shown. */
  settings: readonly PlainSetting[];
  /** Settings that are sealed at rest and never shown. */
  secrets: readonly SecretSetting[];
}

export type PlainSetting =
  | 'callback_url'
  | 'phone_number_id'
  | 'business_account_id'
  | 'api_base_url'
  | 'allowed_origins';

export type SecretSetting = 'secret' | 'access_token' | 'app_secret' | 'verify_token' | 'identity_secret';
