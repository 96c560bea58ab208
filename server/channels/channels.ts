import type { Tx } from '../db/client.ts';
import { toId } from '../ids.ts';
import { unchangeable } from '../unchangeable.ts';
import type { Vault } from '../vault.ts';
import { type ChannelRow, insertChannel, lockChannel, updateChannel } from './queries.ts';
import type { Channel, ChannelUpdate, NewChannel } from './schema.ts';
import {
  completeSettings,
  mergeSettings,
  openSecrets,
  type Secrets,
  sealSecrets,
  shownSettings,
} from './settings.ts';

/** Settings are checked before, outside the transaction (`checkSettings`). */
export async function createChannel(
  tx: Tx,
  workspaceId: string,
  input: NewChannel,
  vault: Vault,
): Promise<Channel> {
  const nothing = { plain: {}, secrets: {} };
  const { plain, secrets, made } = completeSettings(mergeSettings(input.type, nothing, input.settings));
  const row = await insertChannel(tx, workspaceId, {
    type: input.type,
    name: input.name,
    after_resolved: input.after_resolved ?? 'reopen',
    settings: plain,
    sealed_settings: sealSecrets(vault, secrets),
  });
  return channelOf(row, vault, made);
}

/** Only what the input names changes; within `settings` too. */
export async function changeChannel(
  tx: Tx,
  workspaceId: string,
  id: string,
  input: ChannelUpdate,
  vault: Vault,
): Promise<Channel | undefined> {
  const before = await lockChannel(tx, workspaceId, id);
  if (!before) return undefined;
  unchangeable('type', before.type, input.type);
  const stored = { plain: before.settings, secrets: openSecrets(vault, before.sealed_settings) };
  const { plain, secrets, made } = completeSettings(mergeSettings(before.type, stored, input.settings));
  const row = await updateChannel(tx, workspaceId, {
    ...before,
    name: input.name ?? before.name,
    after_resolved: input.after_resolved ?? before.after_resolved,
    settings: plain,
    sealed_settings: sealSecrets(vault, secrets),
    archived: input.archived ?? before.archived,
  });
  return channelOf(row, vault, made);
}

/** `made`: secrets to show this once. */
export function channelOf(row: ChannelRow, vault: Vault, made: Secrets = {}): Channel {
  const stored = { plain: row.settings, secrets: openSecrets(vault, row.sealed_settings) };
  return {
    id: toId('channel', row.id),
    type: row.type,
    name: row.name,
    after_resolved: row.after_resolved,
    settings: { ...shownSettings(row.type, stored), ...made },
    archived: row.archived,
    created_at: row.created_at,
  };
}
