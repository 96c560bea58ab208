import { createHmac } from 'node:crypto';

export interface Secrets {
  current: string;
  /** For a day after a rotation. */
  previous: string | undefined;
}

/** `X-Service-Signature`: keyed with the secret as the text it is, over the exact bytes of the body. */
export function serviceSignature(secret: string, body: Buffer): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** The Standard Webhooks signature: keyed with the bytes the secret encodes, over id, time and body. */
function standardSignature(secret: string, id: string, timestamp: number, body: Buffer): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return `v1,${signature}`;
}

/** Every signature header of one attempt. After a rotation both secrets sign, so a receiver can change over in peace. */
export function signatureHeaders(
  { current, previous }: Secrets,
  eventId: string,
  timestamp: number,
  body: Buffer,
): Record<string, string> {
  const standard = [current, ...(previous === undefined ? [] : [previous])].map((secret) =>
    standardSignature(secret, eventId, timestamp, body),
  );
  return {
    'x-service-signature': serviceSignature(current, body),
    ...(previous !== undefined && { 'x-service-signature-previous': serviceSignature(previous, body) }),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.join(' '),
  };
}
