import { type Reader, statement } from '../db/client.ts';
import { fromId, type Kind, prefixes } from '../ids.ts';
import { findWorkspace, type WorkspaceRow } from '../workspaces/queries.ts';
import { UsageError } from './usage.ts';

const list = statement<WorkspaceRow>(
  'commands.workspaces',
  `select id, name, plan, created_at from workspaces order by created_at, id`,
);

/** Oldest first. */
export function listWorkspaces(db: Reader): Promise<WorkspaceRow[]> {
  return db.query(list, []);
}

const someWorkspaces = statement<WorkspaceRow>(
  'commands.some_workspaces',
  `select id, name, plan, created_at from workspaces order by created_at, id limit 2`,
);

/** The workspace an option names; without the option the only one there is. */
export async function chosenWorkspace(db: Reader, id: string | undefined): Promise<WorkspaceRow> {
  if (id !== undefined) return found('workspace', id, (uuid) => findWorkspace(db, uuid));
  const [only, another] = await db.query(someWorkspaces, []);
  if (only === undefined)
    throw new UsageError('There is no workspace yet: make one with workspace create --name NAME');
  if (another !== undefined) {
    throw new UsageError('There are several workspaces: say which with --workspace ID (see workspace list)');
  }
  return only;
}

/** What an id names; one clear line when that is nothing. */
export async function found<Row>(
  kind: Kind,
  id: string,
  find: (uuid: string) => Promise<Row | undefined>,
): Promise<Row> {
  const uuid = fromId(kind, id);
  if (uuid === undefined)
    throw new Error(`"${id}" cannot be the id of a ${kind}: those begin with ${prefixes[kind]}_`);
  const row = await find(uuid);
  if (row === undefined) throw new Error(`There is no ${kind} ${id}`);
  return row;
}

const ofKey = statement<{ workspace_id: string }>(
  'commands.workspace_of_key',
  `select workspace_id from api_keys where id = $1`,
);

/** An id is unique, though the tables are ordered by workspace: this one look-up reads all of api_keys. */
export async function findWorkspaceIdOfKey(db: Reader, keyId: string): Promise<string | undefined> {
  const [row] = await db.query(ofKey, [keyId]);
  return row?.workspace_id;
}
