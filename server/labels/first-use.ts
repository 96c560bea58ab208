import { statement, type Tx } from '../db/client.ts';
import { invalid } from '../errors.ts';
import { newUuid } from '../ids.ts';
import { keepWithinLimit } from '../workspaces/limit.ts';
import { countLabels } from './queries.ts';
import { defaultColor } from './schema.ts';

/** In name order, so that two requests that make the same labels wait for each other and never deadlock. */
const insertMissing = statement<never>(
  'labels.insert_missing',
  `insert into labels (workspace_id, id, name, color)
   select $1, id, name, '${defaultColor}' from unnest($2::uuid[], $3::text[]) as wanted (id, name) order by name
   on conflict (workspace_id, name) do nothing`,
);

const findByName = statement<{ id: string; name: string; archived: boolean }>(
  'labels.find_by_names',
  `select id, name, archived from labels where workspace_id = $1 and name = any ($2)`,
);

/** The ids of these names in their order; a name nobody used before becomes a label. */
export async function labelsByName(
  tx: Tx,
  workspaceId: string,
  names: string[],
  alreadyThere: string[],
): Promise<string[]> {
  let found = await tx.query(findByName, [workspaceId, names]);
  if (found.length < names.length) {
    const known = new Set(found.map(({ name }) => name));
    const missing = names.filter((name) => !known.has(name));
    tx.send(insertMissing, [workspaceId, missing.map(() => newUuid()), missing]);
    found = await tx.query(findByName, [workspaceId, names]);
    await keepWithinLimit(tx, workspaceId, 'labels', countLabels, [workspaceId, false]);
  }
  const byName = new Map(found.map((label) => [label.name, label]));
  return names.map((name) => {
    const label = byName.get(name)!;
    if (label.archived && !alreadyThere.includes(label.id)) {
      throw invalid('labels', 'archived', `The label "${name}" is archived`);
    }
    return label.id;
  });
}
