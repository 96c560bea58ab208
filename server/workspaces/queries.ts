import { type Reader, statement, type Tx } from '../db/client.ts';
import type { Plan } from '../http/authenticate.ts';
import { newUuid } from '../ids.ts';

export interface WorkspaceRow {
  id: string;
  name: string;
  plan: Plan;
  created_at: string;
}

const insert = statement<WorkspaceRow>(
  'workspaces.insert',
  `insert into workspaces (id, name, plan) values ($1, $2, $3) returning id, name, plan, created_at`,
);

export async function insertWorkspace(tx: Tx, name: string, plan: Plan): Promise<WorkspaceRow> {
  const [row] = await tx.query(insert, [newUuid(), name, plan]);
  return row!;
}

const find = statement<WorkspaceRow>(
  'workspaces.find',
  `select id, name, plan, created_at from workspaces where id = $1`,
);

export async function findWorkspace(db: Reader, id: string): Promise<WorkspaceRow | undefined> {
  const [row] = await db.query(find, [id]);
  return row;
}

const updatePlan = statement<WorkspaceRow>(
  'workspaces.update_plan',
  `update workspaces set plan = $2 where id = $1 returning id, name, plan, created_at`,
);

export async function updateWorkspacePlan(tx: Tx, id: string, plan: Plan): Promise<WorkspaceRow | undefined> {
  const [row] = await tx.query(updatePlan, [id, plan]);
  return row;
}

/** The first workspace ever made: the one INBOX_API_KEY opens. */
const oldest = statement<WorkspaceRow>(
  'workspaces.oldest',
  `select id, name, plan, created_at from workspaces order by created_at, id limit 1`,
);

export async function findOldestWorkspace(db: Reader): Promise<WorkspaceRow | undefined> {
  const [row] = await db.query(oldest, []);
  return row;
}
