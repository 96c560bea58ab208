import { statement, type Tx } from '../db/client.ts';
import { finding, listingArchivable } from '../db/listing.ts';
import { unlessTaken } from '../db/unique.ts';
import { newUuid } from '../ids.ts';
import { keepWithinLimit } from '../workspaces/limit.ts';
import type { AgentUpdate, NewAgent, Role } from './schema.ts';

export interface AgentRow {
  id: string;
  name: string;
  email: string | null;
  role: Role;
  archived: boolean;
  created_at: string;
}

const columns = 'id, name, email, role, archived, created_at';

const count = statement<{ n: number }>(
  'agents.count',
  `select count(*) as n from agents where workspace_id = $1 and (not archived or $2)`,
);

export const listAgents = listingArchivable(
  statement<AgentRow>(
    'agents.list',
    `select ${columns} from agents where workspace_id = $1 and (not archived or $2)
     order by created_at desc, id desc limit $3::int offset $4::int`,
  ),
  count,
);

export const findAgent = finding(
  statement<AgentRow>('agents.find', `select ${columns} from agents where workspace_id = $1 and id = $2`),
);

const emailTaken = {
  index: 'agents_email',
  field: 'email',
  message: 'email belongs to another agent of this workspace',
};

const insert = statement<AgentRow>(
  'agents.insert',
  `insert into agents (workspace_id, id, name, email, role) values ($1, $2, $3, $4, $5) returning ${columns}`,
);

export async function insertAgent(
  tx: Tx,
  workspaceId: string,
  { name, email = null, role = 'agent' }: NewAgent,
): Promise<AgentRow> {
  const [row] = await unlessTaken(tx.query(insert, [workspaceId, newUuid(), name, email, role]), emailTaken);
  await keepWithinLimit(tx, workspaceId, 'agents', count, [workspaceId, false]);
  return row!;
}

const update = statement<AgentRow>(
  'agents.update',
  `update agents set name = coalesce($3, name), email = case when $4 then $5 else email end, role = coalesce($6, role),
     archived = coalesce($7, archived)
   where workspace_id = $1 and id = $2 returning ${columns}`,
);

export async function updateAgent(
  tx: Tx,
  workspaceId: string,
  id: string,
  { name, email, role, archived }: AgentUpdate,
): Promise<AgentRow | undefined> {
  const values = [workspaceId, id, name, email !== undefined, email, role, archived];
  const [row] = await unlessTaken(tx.query(update, values), emailTaken);
  if (archived === false) await keepWithinLimit(tx, workspaceId, 'agents', count, [workspaceId, false]);
  return row;
}
