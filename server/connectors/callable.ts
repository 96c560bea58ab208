import type { AfterResolved } from '../channels/schema.ts';
import { openSecrets, type PlainSettings } from '../channels/settings.ts';
import type { ChannelType } from '../channels/types.ts';
import type { Context } from '../context.ts';
import { statement } from '../db/client.ts';
import type { Vault } from '../vault.ts';
import type { OpenChannel } from './connector.ts';

/** A channel as those find it who call from outside and have no key: by its id alone. */
export interface CallableChannel extends OpenChannel {
  after_resolved: AfterResolved;
}

export interface ChannelCallRow {
  workspace_id: string;
  id: string;
  type: ChannelType;
  settings: PlainSettings;
  sealed_settings: Buffer | null;
}

const findLive = statement<ChannelCallRow & { after_resolved: AfterResolved }>(
  'channels.find_callable',
  `select workspace_id, id, type, after_resolved, settings, sealed_settings from channels where id = $1 and not archived`,
);

export async function findCallableChannel(
  { db, vault }: Pick<Context, 'db' | 'vault'>,
  id: string | undefined,
): Promise<CallableChannel | undefined> {
  if (id === undefined) return undefined;
  const [row] = await db.query(findLive, [id]);
  return row && { ...openRow(vault, row), after_resolved: row.after_resolved };
}

export function openRow(vault: Vault, row: ChannelCallRow): OpenChannel {
  const { workspace_id: workspaceId, id, type, settings, sealed_settings } = row;
  return { workspaceId, id, type, settings, secrets: openSecrets(vault, sealed_settings) };
}
