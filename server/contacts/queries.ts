import { countOf } from '../counts/counts.ts';
import { type Db, type Reader, statement, type Tx } from '../db/client.ts';
import { limitOf, paged } from '../db/paged.ts';
import { newUuid } from '../ids.ts';
import { type Listing, momentAndId, type Page, type Position } from '../page.ts';
import { digitsOf, matching, searchTextOf } from './search.ts';

export interface ContactRow {
  id: string;
  name: string;
  phone: string | null;
  email: string | null;
  company: string | null;
  tags: string[];
  custom_attributes: Record<string, unknown>;
  created_at: string;
}

export const contactColumns =
  'c.id, c.name, c.phone, c.email, c.company, c.tags, c.custom_attributes, c.created_at';

/** Ids by index alone, then the rows of that one page. */
const pageOfContacts = (idsQuery: string) => `
  select ${contactColumns} from (${idsQuery}) page
  join contacts c on c.workspace_id = $1 and c.id = page.id
  order by c.created_at desc, c.id desc`;

/** With `after`, from there on: two more values. */
const newest = (after: '' | '.after') =>
  paged<ContactRow>(`contacts.newest${after}`, (slice) =>
    pageOfContacts(`select id from contacts
      where workspace_id = $1 ${after && 'and (created_at, id) < ($2, $3)'}
      order by created_at desc, id desc ${limitOf(slice)}`),
  );

const withTag = (after: '' | '.after') =>
  paged<ContactRow>(`contacts.with_tag${after}`, (slice) =>
    pageOfContacts(`select contact_id as id from contact_tags
      where workspace_id = $1 and tag = $2 ${after && 'and (contact_created_at, contact_id) < ($3, $4)'}
      order by contact_created_at desc, contact_id desc ${limitOf(slice)}`),
  );

const lists = {
  newest: newest(''),
  newestAfter: newest('.after'),
  withTag: withTag(''),
  withTagAfter: withTag('.after'),
};

export async function listContacts(
  db: Db,
  workspaceId: string,
  { q, tag }: { q?: string; tag?: string },
  page: Page,
): Promise<Listing<ContactRow>> {
  if (q !== undefined && q !== '') return searchContacts(db, workspaceId, q, tag, page);
  const after = momentAndId(page);
  const newestList = after ? lists.newestAfter : lists.newest;
  const tagList = after ? lists.withTagAfter : lists.withTag;
  const [rows, total] = await Promise.all([
    tag === undefined
      ? newestList(db, [workspaceId, ...(after ?? [])], page)
      : tagList(db, [workspaceId, tag, ...(after ?? [])], page),
    countOf(db, workspaceId, tag === undefined ? 'contacts' : `contacts tag=${tag}`),
  ]);
  return { rows, total, position: positionOf(rows) };
}

function positionOf(rows: ContactRow[]): Position | undefined {
  const last = rows.at(-1);
  return last && [last.created_at, last.id];
}

/** Planned anew for each term: how rare it is decides the plan, and a prepared one cannot know. */
async function searchContacts(
  db: Db,
  workspaceId: string,
  q: string,
  tag: string | undefined,
  page: Page,
): Promise<Listing<ContactRow>> {
  const { rowsText, rowValues, countText, values } = searchQueries(workspaceId, q, tag, page);
  const [rows, [counted]] = await Promise.all([
    db.alone.queryText<ContactRow>(rowsText, rowValues),
    db.alone.queryText<{ n: number }>(countText, values),
  ]);
  return { rows, total: counted?.n ?? 0, position: positionOf(rows) };
}

export function searchQueries(workspaceId: string, q: string, tag: string | undefined, page: Page) {
  const values: unknown[] = [workspaceId];
  let condition = `workspace_id = $1 and ${matching(workspaceId, q, values)}`;
  if (tag !== undefined) condition += ` and tags @> array[$${values.push(tag)}]::text[]`;
  const after = momentAndId(page);
  const here = after ? `and (created_at, id) < ($${values.length + 1}, $${values.length + 2})` : '';
  return {
    rowsText: pageOfContacts(`select id from contacts where ${condition} ${here}
      order by created_at desc, id desc ${limitOf(page)}`),
    countText: `select count(*) as n from contacts where ${condition}`,
    values,
    rowValues: [...values, ...(after ?? [])],
  };
}

const find = statement<ContactRow>(
  'contacts.find',
  `select ${contactColumns} from contacts c where c.workspace_id = $1 and c.id = $2`,
);

export async function findContact(
  db: Reader,
  workspaceId: string,
  id: string,
): Promise<ContactRow | undefined> {
  const [row] = await db.query(find, [workspaceId, id]);
  return row;
}

/** With the time after the lock was had: two updates of one contact then tell of themselves in order. */
const lock = statement<ContactRow & { now: string }>(
  'contacts.lock',
  `with c as materialized (select ${contactColumns} from contacts c where c.workspace_id = $1 and c.id = $2 for no key update)
   select c.*, clock_timestamp() as now from c`,
);

export async function lockContact(tx: Tx, workspaceId: string, id: string) {
  const [row] = await tx.query(lock, [workspaceId, id]);
  return row;
}

const insert = statement<{ created_at: string }>(
  'contacts.insert',
  `with made as (
     insert into contacts (workspace_id, id, name, phone, email, company, tags, custom_attributes, search, digits)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning created_at),
   tagged as (
     insert into contact_tags (workspace_id, tag, contact_created_at, contact_id)
     select $1, tag, created_at, $2 from made, unnest($7::text[]) tag)
   select created_at from made`,
);

export type ContactValues = Omit<ContactRow, 'id' | 'created_at'>;

export async function insertContact(tx: Tx, workspaceId: string, values: ContactValues): Promise<ContactRow> {
  const id = newUuid();
  const [made] = await tx.query(insert, parameters(workspaceId, id, values));
  return { ...values, id, created_at: made!.created_at };
}

const update = statement<never>(
  'contacts.update',
  `with changed as (
     update contacts set name = $3, phone = $4, email = $5, company = $6, tags = $7, custom_attributes = $8, search = $9,
       digits = $10
     where workspace_id = $1 and id = $2 returning created_at),
   untagged as (
     delete from contact_tags where workspace_id = $1 and contact_id = $2 and tag <> all ($7::text[]))
   insert into contact_tags (workspace_id, tag, contact_created_at, contact_id)
   select $1, tag, created_at, $2 from changed, unnest($7::text[]) tag
   on conflict do nothing`,
);

export function updateContact(tx: Tx, workspaceId: string, id: string, values: ContactValues): void {
  tx.send(update, parameters(workspaceId, id, values));
}

function parameters(workspaceId: string, id: string, contact: ContactValues): unknown[] {
  const { name, phone, email, company, tags, custom_attributes } = contact;
  const search = searchTextOf(contact);
  return [
    workspaceId,
    id,
    name,
    phone,
    email,
    company,
    tags,
    JSON.stringify(custom_attributes),
    search,
    digitsOf(workspaceId, search),
  ];
}
