import type { Page } from '../page.ts';
import { type Db, type Statement, statement } from './client.ts';

export type Slice = Pick<Page, 'perPage' | 'offset'>;

export const limitOf = ({ perPage, offset }: Slice): string =>
  offset > 0 ? `limit ${perPage} offset ${offset}` : `limit ${perPage}`;

/**
 * A list query. `LIMIT $n` in a prepared statement makes PostgreSQL guess a tenth of the table and plan for that, so the
 * numbers stand in the text: first pages are prepared, one statement a page size; deeper pages are planned as they come.
 */
export function paged<Row>(name: string, textOf: (page: Slice) => string) {
  const bySize = new Map<number, Statement<Row>>();
  bySize.set(25, statement<Row>(`${name}.25`, textOf({ perPage: 25, offset: 0 })));
  return (db: Db, values: unknown[], { perPage, offset }: Page): Promise<Row[]> => {
    if (offset > 0) return db.alone.queryText(textOf({ perPage, offset }), values);
    const prepared = bySize.get(perPage) ?? {
      name: `${name}.${perPage}`,
      text: textOf({ perPage, offset: 0 }),
    };
    bySize.set(perPage, prepared);
    return db.query(prepared, values);
  };
}
