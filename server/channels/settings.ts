import type { Egress } from '../egress/guard.ts';
import { invalid } from '../errors.ts';
import { newSigningSecret } from '../signing-secret.ts';
import type { Vault } from '../vault.ts';
import type { SettingsInput } from './schema.ts';
import { type ChannelType, channelTypes, type PlainSetting, type SecretSetting } from './types.ts';

export interface StoredSettings {
  plain: PlainSettings;
  secrets: Secrets;
}
export type PlainSettings = Partial<Record<PlainSetting, string | string[]>>;
export type Secrets = Partial<Record<SecretSetting, string>>;

/** Before the transaction: looking up a name may take seconds. */
export async function checkSettings(egress: Egress, named: SettingsInput = {}): Promise<void> {
  for (const name of ['callback_url', 'api_base_url'] as const) {
    const url = named[name];
    if (typeof url === 'string') await egress.checkUrl(`settings.${name}`, url);
  }
  checkOrigins(named.allowed_origins ?? []);
}

/** Names that are not of this type are ignored; `null` removes one. */
export function mergeSettings(
  type: ChannelType,
  before: StoredSettings,
  named: SettingsInput = {},
): StoredSettings {
  const after = { plain: { ...before.plain }, secrets: { ...before.secrets } };
  for (const name of channelTypes[type].settings) put(after.plain, name, named[name]);
  for (const name of channelTypes[type].secrets) put(after.secrets, name, named[name]);
  return after;
}

/** What is sent to a callback is always signed: where no secret was given, one is made, to be shown once. */
export function completeSettings({ plain, secrets }: StoredSettings): StoredSettings & { made: Secrets } {
  if (plain.callback_url === undefined || secrets.secret !== undefined) return { plain, secrets, made: {} };
  const made = { secret: newSigningSecret() };
  return { plain, secrets: { ...secrets, ...made }, made };
}

function put<Name extends string, Value>(
  into: { [name in Name]?: Value },
  name: Name,
  value: Value | null | undefined,
): void {
  if (value === null) delete into[name];
  else if (value !== undefined) into[name] = value;
}

/** Every setting of the type: what it is, or for a secret only whether it is set. */
export function shownSettings(
  type: ChannelType,
  { plain, secrets }: StoredSettings,
): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const name of channelTypes[type].settings) shown[name] = plain[name] ?? null;
  for (const name of channelTypes[type].secrets) shown[`has_${name}`] = secrets[name] !== undefined;
  return shown;
}

export function sealSecrets(vault: Vault, secrets: Secrets): Buffer | null {
  return Object.keys(secrets).length === 0 ? null : vault.seal(JSON.stringify(secrets));
}

export function openSecrets(vault: Vault, sealed: Buffer | null): Secrets {
  const secrets: Secrets = sealed === null ? {} : JSON.parse(vault.open(sealed));
  return secrets;
}

function checkOrigins(origins: string[]): void {
  for (const [place, origin] of origins.entries()) {
    if (/^https?:\/\//.test(origin) && URL.parse(origin)?.origin === origin) continue;
    const field = `settings.allowed_origins.${place}`;
    throw invalid(field, 'origin', `${field} must be an origin such as https://example.com, without a path`);
  }
}
