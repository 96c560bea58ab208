export const scopes = [
  'conversations:read',
  'conversations:write',
  'messages:read',
  'messages:write',
  'contacts:read',
  'contacts:write',
  'webhooks:read',
  'webhooks:write',
  'settings:read',
  'settings:write',
] as const;

export type Scope = (typeof scopes)[number];
