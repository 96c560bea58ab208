import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { OpenChannel } from '../connector.ts';

/** The platform asks once, when its callback URL is set, whether we know the token that was typed in there. */
export function handshake({ secrets }: OpenChannel, query: Record<string, string>): string | undefined {
  const { 'hub.mode': mode, 'hub.verify_token': token = '', 'hub.challenge': challenge } = query;
  const isKnown = secrets.verify_token !== undefined && equal(token, secrets.verify_token);
  return mode === 'subscribe' && isKnown ? challenge : undefined;
}

/** `X-Hub-Signature-256` over the exact bytes: the platform escapes its JSON in a way of its own. */
export function verify({ secrets }: OpenChannel, headers: IncomingHttpHeaders, body: Buffer): boolean {
  const given = headers['x-hub-signature-256'];
  if (secrets.app_secret === undefined || typeof given !== 'string') return false;
  return equal(given, `sha256=${createHmac('sha256', secrets.app_secret).update(body).digest('hex')}`);
}

/** In the same time whatever the given text is. */
function equal(given: string, expected: string): boolean {
  const digest = (text: string) => createHmac('sha256', 'equal').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
