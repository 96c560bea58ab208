import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Vault } from '../../vault.ts';

/** Who writes from a browser: anyone at all, or a user the site's own server vouches for. */
export interface Visitor {
  /** `visitor:<uuid>` or `user:<id>`: what the channel knows the contact by. */
  externalId: string;
  name: string;
  identified: boolean;
}

interface Claims extends Visitor {
  kind: 'webchat';
  channelId: string;
  /** In milliseconds since 1970. */
  until: number;
  /** Of the secret that vouched for a user: with another secret the token is worth nothing. */
  vouchedBy: string | null;
}

const lifetimeMs = 180 * 24 * 3_600_000;
/** What the vault puts before the text. A shorter token would be checked against a shorter seal. */
const sealBytes = 28;

export function newVisitor(): Visitor {
  const id = randomUUID();
  return { externalId: `visitor:${id}`, name: `Visitor ${id.slice(-4)}`, identified: false };
}

/** `hash` is the hex HMAC-SHA256 of the id, which only the site's server can make. */
export function isVouchedFor(userId: string, hash: string, identitySecret: string): boolean {
  const expected = createHmac('sha256', identitySecret).update(userId).digest();
  const given = Buffer.from(hash, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export interface Place {
  channelId: string;
  identitySecret: string | undefined;
}

export function sealVisitor(
  vault: Vault,
  { channelId, identitySecret }: Place,
  visitor: Visitor,
): { token: string; expiresAt: string } {
  const until = Date.now() + lifetimeMs;
  const vouchedBy = visitor.identified ? fingerprint(identitySecret) : null;
  const claims: Claims = { kind: 'webchat', channelId, ...visitor, until, vouchedBy };
  return {
    token: vault.seal(JSON.stringify(claims)).toString('base64url'),
    expiresAt: new Date(until).toISOString(),
  };
}

/** undefined: changed, of another channel, too old, or vouched for with a secret that is no longer the channel's. */
export function openVisitor(
  vault: Vault,
  { channelId, identitySecret }: Place,
  token: string,
): Visitor | undefined {
  const claims = unseal(vault, Buffer.from(token, 'base64url'));
  if (claims?.kind !== 'webchat' || claims.channelId !== channelId || claims.until < Date.now()) {
    return undefined;
  }
  const { externalId, name, identified, vouchedBy } = claims;
  if (identified && vouchedBy !== fingerprint(identitySecret)) return undefined;
  return { externalId, name, identified };
}

function unseal(vault: Vault, sealed: Buffer): Claims | undefined {
  if (sealed.length <= sealBytes) return undefined;
  try {
    return JSON.parse(vault.open(sealed));
  } catch {
    return undefined;
  }
}

const fingerprint = (secret = ''): string =>
  createHash('sha256').update(`webchat ${secret}`).digest('base64url').slice(0, 16);
