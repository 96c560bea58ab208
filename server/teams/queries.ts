import { statement, type Tx } from '../db/client.ts';
import { finding, listingArchivable } from '../db/listing.ts';
import { newUuid } from '../ids.ts';
import { keepWithinLimit } from '../workspaces/limit.ts';
import type { NewTeam, TeamUpdate } from './schema.ts';

export interface TeamRow {
  id: string;
  name: string;
  archived: boolean;
  created_at: string;
}

const columns = 'id, name, archived, created_at';

const count = statement<{ n: number }>(
  'teams.count',
  `select count(*) as n from teams where workspace_id = $1 and (not archived or $2)`,
);

export const listTeams = listingArchivable(
  statement<TeamRow>(
    'teams.list',
    `select ${columns} from teams where workspace_id = $1 and (not archived or $2)
     order by created_at desc, id desc limit $3::int offset $4::int`,
  ),
  count,
);

export const findTeam = finding(
  statement<TeamRow>('teams.find', `select ${columns} from teams where workspace_id = $1 and id = $2`),
);

const insert = statement<TeamRow>(
  'teams.insert',
  `insert into teams (workspace_id, id, name) values ($1, $2, $3) returning ${columns}`,
);

export async function insertTeam(tx: Tx, workspaceId: string, { name }: NewTeam): Promise<TeamRow> {
  const [row] = await tx.query(insert, [workspaceId, newUuid(), name]);
  await keepWithinLimit(tx, workspaceId, 'teams', count, [workspaceId, false]);
  return row!;
}

const update = statement<TeamRow>(
  'teams.update',
  `update teams set name = coalesce($3, name), archived = coalesce($4, archived)
   where workspace_id = $1 and id = $2 returning ${columns}`,
);

export async function updateTeam(
  tx: Tx,
  workspaceId: string,
  id: string,
  { name, archived }: TeamUpdate,
): Promise<TeamRow | undefined> {
  const [row] = await tx.query(update, [workspaceId, id, name, archived]);
  if (archived === false) await keepWithinLimit(tx, workspaceId, 'teams', count, [workspaceId, false]);
  return row;
}
