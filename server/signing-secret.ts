import { randomBytes } from 'node:crypto';

/** `whsec_` and 32 random bytes, as the Standard Webhooks specification writes them. */
export const newSigningSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
