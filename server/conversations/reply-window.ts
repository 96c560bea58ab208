import { channelTypes } from '../channels/types.ts';
import type { DetailRow } from './queries.ts';

const hourMs = 3_600_000;

/** Some platforms allow free text only for a time after the customer's last message. */
export function replyWindow({
  channel_type,
  window_from,
  now,
}: Pick<DetailRow, 'channel_type' | 'window_from' | 'now'>): {
  open: boolean;
  expires_at: string | null;
} {
  const { windowHours } = channelTypes[channel_type];
  if (windowHours === null) return { open: true, expires_at: null };
  if (window_from === null) return { open: false, expires_at: null };
  const expiresAt = new Date(Date.parse(window_from) + windowHours * hourMs).toISOString();
  return { open: now < expiresAt, expires_at: expiresAt };
}
