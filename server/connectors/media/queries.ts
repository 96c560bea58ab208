import type { PlainSettings } from '../../channels/settings.ts';
import type { ChannelType } from '../../channels/types.ts';
import { type Reader, statement, type Tx } from '../../db/client.ts';

const insert = statement<never>(
  'media.insert',
  `insert into media (workspace_id, id, channel_id, external_id, content_type, file_name) values ($1, $2, $3, $4, $5, $6)`,
);

export function insertMedia(
  tx: Tx,
  workspaceId: string,
  values: Record<'id' | 'channelId' | 'externalId' | 'contentType' | 'fileName', string>,
): void {
  const { id, channelId, externalId, contentType, fileName } = values;
  tx.send(insert, [workspaceId, id, channelId, externalId, contentType, fileName]);
}

export interface MediaRow {
  external_id: string;
  content_type: string;
  file_name: string;
  channel_id: string;
  channel_type: ChannelType;
  settings: PlainSettings;
  sealed_settings: Buffer | null;
}

const find = statement<MediaRow>(
  'media.find',
  `select m.external_id, m.content_type, m.file_name, c.id as channel_id, c.type as channel_type, c.settings,
     c.sealed_settings
   from media m join channels c on c.workspace_id = m.workspace_id and c.id = m.channel_id
   where m.workspace_id = $1 and m.id = $2`,
);

export async function findMedia(db: Reader, workspaceId: string, id: string): Promise<MediaRow | undefined> {
  const [row] = await db.query(find, [workspaceId, id]);
  return row;
}
