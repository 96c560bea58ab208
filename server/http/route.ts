import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyTypeProvider,
  RawServerDefault,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  FastifyBaseLogger,
} from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';
import { type Listing, metaOf, type Page } from '../page.ts';
import type { Caller } from './authenticate.ts';
import type { Scope } from './scopes.ts';

/** One TypeBox schema gives a route its types, its validation and its documentation. */
interface TypeBoxProvider extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: unknown;
}

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxProvider
>;

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
    /** The bytes of the body as they came. */
    rawBody: Buffer | undefined;
  }
  interface FastifyContextConfig {
    /** What a key needs for this operation. Every route has a scope or says it is public. */
    scope?: Scope;
    public?: true;
  }
}

/** `{ data }`, the answer of every operation on one resource. */
export const dataOf = <T extends TSchema>(schema: T) => Type.Object({ data: schema });

/** `{ data: [...], meta }`, the answer of every list. */
export const listOf = <T extends TSchema>(schema: T) =>
  Type.Object({ data: Type.Array(schema), meta: Type.Ref('Meta#') });

export const IdParams = Type.Object({ id: Type.String() });

/** What DELETE answers where a record really goes. */
export const Deleted = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });

export function sendPage<Row>(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page,
  listing: Listing<Row>,
) {
  const meta = metaOf(page, listing);
  reply.header(
    'link',
    page.after
      ? cursorLinks(request.url, meta.next_cursor)
      : linkHeader(request.url, page.page, meta.total_pages),
  );
  return { data: listing.rows, meta };
}

/** Of a walk only the next step is known. */
function cursorLinks(url: string, nextCursor: string | null | undefined): string {
  const [path, query] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.delete('cursor');
  const first = `<${path}?${parameters.toString()}>; rel="first"`;
  if (!nextCursor) return first;
  parameters.set('cursor', nextCursor);
  return `${first}, <${path}?${parameters.toString()}>; rel="next"`;
}

/** `Link: </v1/contacts?page=2>; rel="next", …` with every other parameter kept. */
function linkHeader(url: string, page: number, totalPages: number): string {
  const [path, query] = url.split('?', 2);
  const last = Math.max(totalPages, 1);
  const links: [string, number][] = [['first', 1]];
  if (page > 1) links.push(['prev', Math.min(page - 1, last)]);
  if (page < last) links.push(['next', page + 1]);
  links.push(['last', last]);
  return links
    .map(([rel, number]) => {
      const parameters = new URLSearchParams(query);
      parameters.set('page', String(number));
      return `<${path}?${parameters.toString()}>; rel="${rel}"`;
    })
    .join(', ');
}
