import type { Listing, Page } from '../page.ts';
import type { Reader, Statement } from './client.ts';

/** One page of a small table and its total: counting is cheap there, and a limit that is a parameter does no harm. */
export async function listing<Row>(
  db: Reader,
  list: Statement<Row>,
  count: Statement<{ n: number }>,
  values: unknown[],
  { perPage, offset }: Page,
): Promise<Listing<Row>> {
  const [rows, [total]] = await Promise.all([
    db.query(list, [...values, perPage, offset]),
    db.query(count, values),
  ]);
  return { rows, total: total?.n ?? 0 };
}

/** The same of a table whose rows are archived: those come too when asked for. */
export function listingArchivable<Row>(list: Statement<Row>, count: Statement<{ n: number }>) {
  return (db: Reader, workspaceId: string, archived: boolean, page: Page): Promise<Listing<Row>> =>
    listing(db, list, count, [workspaceId, archived], page);
}

export function finding<Row>(find: Statement<Row>) {
  return async (db: Reader, workspaceId: string, id: string): Promise<Row | undefined> => {
    const [row] = await db.query(find, [workspaceId, id]);
    return row;
  };
}
