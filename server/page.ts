import Type, { type Static } from 'typebox';

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

export interface Page {
  page: number;
  perPage: number;
  offset: number;
}

export function pageOf(query: { page?: number; per_page?: number }, defaultPerPage: number): Page {
  const page = query.page ?? 1;
  const perPage = query.per_page ?? defaultPerPage;
  return { page, perPage, offset: (page - 1) * perPage };
}

/** One page of rows and how many there are on all pages. */
export interface Listing<Row> {
  rows: Row[];
  total: number;
}

export const Meta = Type.Object(
  {
    total: Type.Integer({ description: 'Results on all pages.' }),
    page: Type.Integer({ description: 'This page.' }),
    per_page: Type.Integer({ description: 'Page size.' }),
    total_pages: Type.Integer({ description: 'Number of pages.' }),
  },
  { $id: 'Meta' },
);

export function metaOf({ page, perPage }: Page, total: number): Static<typeof Meta> {
  return { total, page, per_page: perPage, total_pages: Math.ceil(total / perPage) };
}
