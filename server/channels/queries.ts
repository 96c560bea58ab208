import { statement, type Tx } from '../db/client.ts';
import { finding, listingArchivable } from '../db/listing.ts';
import { newUuid } from '../ids.ts';
import { keepWithinLimit } from '../workspaces/limit.ts';
import type { AfterResolved } from './schema.ts';
import type { PlainSettings } from './settings.ts';
import type { ChannelType } from './types.ts';

export interface ChannelRow {
  id: string;
  type: ChannelType;
  name: string;
  after_resolved: AfterResolved;
  settings: PlainSettings;
  sealed_settings: Buffer | null;
  archived: boolean;
  created_at: string;
}

const columns = 'id, type, name, after_resolved, settings, sealed_settings, archived, created_at';

const count = statement<{ n: number }>(
  'channels.count',
  `select count(*) as n from channels where workspace_id = $1 and (not archived or $2)`,
);

export const listChannels = listingArchivable(
  statement<ChannelRow>(
    'channels.list',
    `select ${columns} from channels where workspace_id = $1 and (not archived or $2)
     order by created_at desc, id desc limit $3::int offset $4::int`,
  ),
  count,
);

export const findChannel = finding(
  statement<ChannelRow>(
    'channels.find',
    `select ${columns} from channels where workspace_id = $1 and id = $2`,
  ),
);

const lock = statement<ChannelRow>(
  'channels.lock',
  `select ${columns} from channels where workspace_id = $1 and id = $2 for no key update`,
);

export async function lockChannel(tx: Tx, workspaceId: string, id: string): Promise<ChannelRow | undefined> {
  const [row] = await tx.query(lock, [workspaceId, id]);
  return row;
}

const insert = statement<ChannelRow>(
  'channels.insert',
  `insert into channels (workspace_id, id, type, name, after_resolved, settings, sealed_settings)
   values ($1, $2, $3, $4, $5, $6, $7) returning ${columns}`,
);

export type NewChannelValues = Omit<ChannelRow, 'id' | 'archived' | 'created_at'>;

export async function insertChannel(
  tx: Tx,
  workspaceId: string,
  values: NewChannelValues,
): Promise<ChannelRow> {
  const { type, name, after_resolved, settings, sealed_settings } = values;
  const [row] = await tx.query(insert, [
    workspaceId,
    newUuid(),
    type,
    name,
    after_resolved,
    JSON.stringify(settings),
    sealed_settings,
  ]);
  await keepWithinLimit(tx, workspaceId, 'channels', count, [workspaceId, false]);
  return row!;
}

const update = statement<ChannelRow>(
  'channels.update',
  `update channels set name = $3, after_resolved = $4, settings = $5, sealed_settings = $6, archived = $7
   where workspace_id = $1 and id = $2 returning ${columns}`,
);

export async function updateChannel(
  tx: Tx,
  workspaceId: string,
  { id, name, after_resolved, settings, sealed_settings, archived }: ChannelRow,
): Promise<ChannelRow> {
  const values = [workspaceId, id, name, after_resolved, JSON.stringify(settings), sealed_settings, archived];
  const [row] = await tx.query(update, values);
  if (!archived) await keepWithinLimit(tx, workspaceId, 'channels', count, [workspaceId, false]);
  return row!;
}
