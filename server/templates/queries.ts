import type { ChannelType } from '../channels/types.ts';
import { statement, type Tx } from '../db/client.ts';
import { finding, listingArchivable } from '../db/listing.ts';
import { newUuid } from '../ids.ts';
import { keepWithinLimit } from '../workspaces/limit.ts';
import type { TemplateStatus } from './schema.ts';

export interface TemplateRow {
  id: string;
  name: string;
  language: string;
  body: string;
  status: TemplateStatus;
  channel_id: string | null;
  category: string | null;
  archived: boolean;
  created_at: string;
}

const columns = 'id, name, language, body, status, channel_id, category, archived, created_at';

export const countTemplates = statement<{ n: number }>(
  'templates.count',
  `select count(*) as n from templates where workspace_id = $1 and (not archived or $2)`,
);

export const listTemplates = listingArchivable(
  statement<TemplateRow>(
    'templates.list',
    `select ${columns} from templates where workspace_id = $1 and (not archived or $2)
     order by created_at desc, id desc limit $3::int offset $4::int`,
  ),
  countTemplates,
);

export const findTemplate = finding(
  statement<TemplateRow>(
    'templates.find',
    `select ${columns} from templates where workspace_id = $1 and id = $2`,
  ),
);

const lock = statement<TemplateRow & { channel_type: ChannelType | null }>(
  'templates.lock',
  `select ${columns},
     (select type from channels c where c.workspace_id = t.workspace_id and c.id = t.channel_id) as channel_type
   from templates t where workspace_id = $1 and id = $2 for no key update`,
);

export async function lockTemplate(tx: Tx, workspaceId: string, id: string) {
  const [row] = await tx.query(lock, [workspaceId, id]);
  return row;
}

const insert = statement<TemplateRow>(
  'templates.insert',
  `insert into templates (workspace_id, id, name, language, body, status, channel_id)
   values ($1, $2, $3, $4, $5, $6, $7) returning ${columns}`,
);

export type NewTemplateValues = Omit<TemplateRow, 'id' | 'category' | 'archived' | 'created_at'>;

export async function insertTemplate(
  tx: Tx,
  workspaceId: string,
  values: NewTemplateValues,
): Promise<TemplateRow> {
  const { name, language, body, status, channel_id } = values;
  const [row] = await tx.query(insert, [workspaceId, newUuid(), name, language, body, status, channel_id]);
  await keepWithinLimit(tx, workspaceId, 'templates', countTemplates, [workspaceId, false]);
  return row!;
}

const update = statement<TemplateRow>(
  'templates.update',
  `update templates set name = $3, language = $4, body = $5, status = $6, channel_id = $7, archived = $8
   where workspace_id = $1 and id = $2 returning ${columns}`,
);

export async function updateTemplate(
  tx: Tx,
  workspaceId: string,
  { id, name, language, body, status, channel_id, archived }: Omit<TemplateRow, 'created_at'>,
): Promise<TemplateRow> {
  const [row] = await tx.query(update, [workspaceId, id, name, language, body, status, channel_id, archived]);
  if (!archived) await keepWithinLimit(tx, workspaceId, 'templates', countTemplates, [workspaceId, false]);
  return row!;
}
