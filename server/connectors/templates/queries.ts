import { statement, type Tx } from '../../db/client.ts';
import { channelTypes } from '../../channels/types.ts';
import type { ChannelCallRow } from '../callable.ts';
import type { PlatformTemplate } from '../connector.ts';

const everyMinutes = 10;

const approvingTypes = Object.entries(channelTypes)
  .filter(([, { approvesTemplates }]) => approvesTemplates)
  .map(([type]) => `'${type}'`)
  .join(', ');

const takeDue = statement<ChannelCallRow>(
  'template_sync.take_due',
  `update channels set templates_synced_at = clock_timestamp()
   where (workspace_id, id) = (
     select workspace_id, id from channels
     where type in (${approvingTypes}) and not archived and settings ? 'business_account_id'
       and (templates_synced_at is null or templates_synced_at < clock_timestamp() - interval '${everyMinutes} min')
     order by templates_synced_at nulls first limit 1 for update skip locked)
   returning workspace_id, id, type, settings, sealed_settings`,
);

export async function takeDueChannel(tx: Tx): Promise<ChannelCallRow | undefined> {
  const [row] = await tx.query(takeDue, []);
  return row;
}

const lock = statement<{ locked: unknown }>(
  'template_sync.lock',
  `select pg_advisory_xact_lock(hashtextextended('templates ' || $1 || ' ' || $2, 0)) as locked`,
);

/** One at a time for each channel: two would both insert what is new. */
export async function lockSync(tx: Tx, workspaceId: string, channelId: string): Promise<void> {
  await tx.query(lock, [workspaceId, channelId]);
}

export interface SyncedRow extends Omit<PlatformTemplate, 'externalId'> {
  id: string;
  /** null: written here and not yet seen on the platform, or gone from it. */
  externalId: string | null;
  archived: boolean;
}

const list = statement<SyncedRow>(
  'template_sync.list',
  `select id, external_id as "externalId", name, language, body, category, status, archived
   from templates where workspace_id = $1 and channel_id = $2 order by archived, created_at, id for no key update`,
);

export function listSynced(tx: Tx, workspaceId: string, channelId: string): Promise<SyncedRow[]> {
  return tx.query(list, [workspaceId, channelId]);
}

const insert = statement<never>(
  'template_sync.insert',
  `insert into templates (workspace_id, channel_id, id, external_id, name, language, body, category, status)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

export function insertSynced(tx: Tx, workspaceId: string, channelId: string, row: SyncedRow): void {
  const { id, externalId, name, language, body, category, status } = row;
  tx.send(insert, [workspaceId, channelId, id, externalId, name, language, body, category, status]);
}

const update = statement<never>(
  'template_sync.update',
  `update templates set external_id = $3, name = $4, language = $5, body = $6, category = $7, status = $8, archived = $9
   where workspace_id = $1 and id = $2`,
);

export function updateSynced(tx: Tx, workspaceId: string, row: SyncedRow): void {
  const { id, externalId, name, language, body, category, status, archived } = row;
  tx.send(update, [workspaceId, id, externalId, name, language, body, category, status, archived]);
}
