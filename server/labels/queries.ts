import { statement, type Tx } from '../db/client.ts';
import { finding, listingArchivable } from '../db/listing.ts';
import { unlessTaken } from '../db/unique.ts';
import { newUuid } from '../ids.ts';
import { keepWithinLimit } from '../workspaces/limit.ts';
import { defaultColor, type LabelUpdate, type NewLabel } from './schema.ts';

export interface LabelRow {
  id: string;
  name: string;
  color: string;
  archived: boolean;
  created_at: string;
}

const columns = 'id, name, color, archived, created_at';

export const countLabels = statement<{ n: number }>(
  'labels.count',
  `select count(*) as n from labels where workspace_id = $1 and (not archived or $2)`,
);

export const listLabels = listingArchivable(
  statement<LabelRow>(
    'labels.list',
    `select ${columns} from labels where workspace_id = $1 and (not archived or $2)
     order by created_at desc, id desc limit $3::int offset $4::int`,
  ),
  countLabels,
);

export const findLabel = finding(
  statement<LabelRow>('labels.find', `select ${columns} from labels where workspace_id = $1 and id = $2`),
);

export const findLabelByName = finding(
  statement<LabelRow>(
    'labels.find_by_name',
    `select ${columns} from labels where workspace_id = $1 and name = $2`,
  ),
);

const nameTaken = {
  index: 'labels_workspace_id_name_key',
  field: 'name',
  message: 'name belongs to another label of this workspace, which may be archived',
};

const insert = statement<LabelRow>(
  'labels.insert',
  `insert into labels (workspace_id, id, name, color) values ($1, $2, $3, $4) returning ${columns}`,
);

export async function insertLabel(
  tx: Tx,
  workspaceId: string,
  { name, color = defaultColor }: NewLabel,
): Promise<LabelRow> {
  const [row] = await unlessTaken(tx.query(insert, [workspaceId, newUuid(), name.trim(), color]), nameTaken);
  await keepWithinLimit(tx, workspaceId, 'labels', countLabels, [workspaceId, false]);
  return row!;
}

const update = statement<LabelRow>(
  'labels.update',
  `update labels set name = coalesce($3, name), color = coalesce($4, color), archived = coalesce($5, archived)
   where workspace_id = $1 and id = $2 returning ${columns}`,
);

export async function updateLabel(
  tx: Tx,
  workspaceId: string,
  id: string,
  { name, color, archived }: LabelUpdate,
): Promise<LabelRow | undefined> {
  const [row] = await unlessTaken(
    tx.query(update, [workspaceId, id, name?.trim(), color, archived]),
    nameTaken,
  );
  if (archived === false) await keepWithinLimit(tx, workspaceId, 'labels', countLabels, [workspaceId, false]);
  return row;
}
