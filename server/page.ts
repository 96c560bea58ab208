import Type, { type Static } from 'typebox';
import { badRequest } from './errors.ts';

export const maxPage = 1_000_000;
export const maxPerPage = 100;

/** The query parameters of every list. */
export function pageQuery(defaultPerPage: number) {
  return {
    page: Type.Optional(
      Type.Integer({ minimum: 1, maximum: maxPage, default: 1, description: 'Page number, from 1.' }),
    ),
    per_page: Type.Optional(
      Type.Integer({ minimum: 1, maximum: maxPerPage, default: defaultPerPage, description: 'Page size.' }),
    ),
  };
}

/** For lists that can be walked from end to end, each page at the cost of the first. */
export const cursorQuery = {
  cursor: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'Instead of `page`: the `meta.next_cursor` of the page before.',
    }),
  ),
};

export interface Page {
  page: number;
  perPage: number;
  offset: number;
  /** Instead of an offset: where the last row of the page before stands in the order of the list. */
  after?: Position;
}

export type Position = readonly [string, ...string[]];

interface PageInput {
  page?: number;
  per_page?: number;
  cursor?: string;
}

export function pageOf(query: PageInput, defaultPerPage: number): Page {
  const page = query.page ?? 1;
  const perPage = query.per_page ?? defaultPerPage;
  if (query.cursor === undefined) return { page, perPage, offset: (page - 1) * perPage };
  if (query.page !== undefined) throw badCursor('exclusive', 'Send cursor or page, not both');
  return { page, perPage, offset: 0, after: readCursor(query.cursor) };
}

function readCursor(cursor: string): Position {
  const [first, ...rest] = Buffer.from(cursor, 'base64url').toString('latin1').split(' ');
  if (!first || writeCursor([first, ...rest]) !== cursor || rest.some((part) => part === '')) {
    throw badCursor('cursor', 'cursor must be a next_cursor that this list gave');
  }
  return [first, ...rest];
}

const writeCursor = (position: Position): string =>
  Buffer.from(position.join(' '), 'latin1').toString('base64url');

export function badCursor(rule: string, message: string): Error {
  return badRequest(message, [{ field: 'cursor', rule, message }]);
}

/** Of a list in order of time and id. */
export function momentAndId({ after }: Page): [string, string] | undefined {
  if (!after) return undefined;
  const [moment, id = ''] = after;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(moment) || !/^[0-9a-f-]{36}$/.test(id)) {
    throw badCursor('cursor', 'cursor must be a next_cursor that this list gave');
  }
  return [moment, id];
}

/** One page of rows and how many there are on all pages. */
export interface Listing<Row> {
  rows: Row[];
  total: number;
  /** Where the last row stands; for lists that can be walked. */
  position?: Position | undefined;
}

export const Meta = Type.Object(
  {
    total: Type.Integer({ description: 'Results on all pages.' }),
    page: Type.Integer({ description: 'This page.' }),
    per_page: Type.Integer({ description: 'Page size.' }),
    total_pages: Type.Integer({ description: 'Number of pages.' }),
    next_cursor: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'For `cursor`, to read on at constant cost however far; null at the end.',
      }),
    ),
  },
  { $id: 'Meta' },
);

export function metaOf(page: Page, listing: Listing<unknown>): Static<typeof Meta> {
  const { perPage, offset, after } = page;
  const { rows, total, position } = listing;
  const meta = { total, page: page.page, per_page: perPage, total_pages: Math.ceil(total / perPage) };
  if (!('position' in listing)) return meta;
  const isLast = rows.length < perPage || (!after && offset + perPage >= total);
  return { ...meta, next_cursor: position && !isLast ? writeCursor(position) : null };
}
