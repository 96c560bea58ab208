import { type Statement, statement, type Tx } from '../db/client.ts';
import { invalid } from '../errors.ts';

export const mostPerWorkspace = 500;

/** Writers of settings queue here; the references that every other insert takes on its workspace do not. */
const lock = statement<object>('workspaces.lock', `select from workspaces where id = $1 for no key update`);

/**
 * Refuses a write that has just made one too many of something. Whoever adds holds the workspace until its commit, so
 * the count sees every other addition and is exact.
 */
export async function keepWithinLimit(
  tx: Tx,
  workspaceId: string,
  what: string,
  count: Statement<{ n: number }>,
  values: unknown[],
): Promise<void> {
  const [, [live]] = await Promise.all([tx.query(lock, [workspaceId]), tx.query(count, values)]);
  if (live!.n <= mostPerWorkspace) return;
  throw invalid(
    what.replaceAll(' ', '_'),
    'limit',
    `A workspace can have at most ${mostPerWorkspace} ${what}`,
  );
}
