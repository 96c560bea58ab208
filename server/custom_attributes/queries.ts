import { statement, type Tx } from '../db/client.ts';
import { finding, listingArchivable } from '../db/listing.ts';
import { unlessTaken } from '../db/unique.ts';
import { newUuid } from '../ids.ts';
import { unchangeable } from '../unchangeable.ts';
import { keepWithinLimit } from '../workspaces/limit.ts';
import type { AttributeType } from './check.ts';
import type { CustomAttributeUpdate, NewCustomAttribute } from './schema.ts';

export interface CustomAttributeRow {
  id: string;
  key: string;
  type: AttributeType;
  label: string;
  archived: boolean;
  created_at: string;
}

const columns = 'id, key, type, label, archived, created_at';

const count = statement<{ n: number }>(
  'custom_attributes.count',
  `select count(*) as n from custom_attributes where workspace_id = $1 and (not archived or $2)`,
);

export const listCustomAttributes = listingArchivable(
  statement<CustomAttributeRow>(
    'custom_attributes.list',
    `select ${columns} from custom_attributes where workspace_id = $1 and (not archived or $2)
     order by created_at desc, id desc limit $3::int offset $4::int`,
  ),
  count,
);

export const findCustomAttribute = finding(
  statement<CustomAttributeRow>(
    'custom_attributes.find',
    `select ${columns} from custom_attributes where workspace_id = $1 and id = $2`,
  ),
);

const keyTaken = {
  index: 'custom_attributes_key',
  field: 'key',
  message: 'key belongs to another custom attribute of this workspace',
};

const insert = statement<CustomAttributeRow>(
  'custom_attributes.insert',
  `insert into custom_attributes (workspace_id, id, key, type, label) values ($1, $2, $3, $4, $5) returning ${columns}`,
);

export async function insertCustomAttribute(
  tx: Tx,
  workspaceId: string,
  input: NewCustomAttribute,
): Promise<CustomAttributeRow> {
  const key = input.key.trim();
  const values = [workspaceId, newUuid(), key, input.type, input.label ?? key];
  const [row] = await unlessTaken(tx.query(insert, values), keyTaken);
  await keepWithinLimit(tx, workspaceId, 'custom attributes', count, [workspaceId, false]);
  return row!;
}

const update = statement<CustomAttributeRow>(
  'custom_attributes.update',
  `update custom_attributes set type = coalesce($3, type), label = coalesce($4, label), archived = coalesce($5, archived)
   where workspace_id = $1 and id = $2 returning ${columns}`,
);

export async function updateCustomAttribute(
  tx: Tx,
  workspaceId: string,
  id: string,
  { key, type, label, archived }: CustomAttributeUpdate,
): Promise<CustomAttributeRow | undefined> {
  const [row] = await unlessTaken(tx.query(update, [workspaceId, id, type, label, archived]), keyTaken);
  if (row) unchangeable('key', row.key, key);
  if (archived === false) {
    await keepWithinLimit(tx, workspaceId, 'custom attributes', count, [workspaceId, false]);
  }
  return row;
}
