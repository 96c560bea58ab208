import { countOf } from '../counts/counts.ts';
import type { Db } from '../db/client.ts';
import { limitOf, paged, type Slice } from '../db/paged.ts';
import { type Listing, momentAndId, type Page, type Position } from '../page.ts';
import { skipDays } from './days.ts';
import { type SummaryRow, summaryColumns, summaryJoins } from './queries.ts';
import { type Status, statuses } from './schema.ts';

export interface Filters {
  status?: Status | undefined;
  channelId?: string | undefined;
  /** null: conversations without an assignee. */
  assigneeId?: string | null | undefined;
  contactId?: string | undefined;
  teamId?: string | undefined;
  label?: string | undefined;
  updatedSince?: string | undefined;
}

/** Newest update first. Totals and first pages cost the same at a thousand conversations and at a million. */
export async function listConversations(
  db: Db,
  workspaceId: string,
  filters: Filters,
  page: Page,
): Promise<Listing<SummaryRow>> {
  const { contactId, teamId, label, updatedSince } = filters;
  if ((contactId ?? teamId ?? label ?? updatedSince) !== undefined)
    return listNarrowed(db, workspaceId, filters, page);
  const [rows, total] = await Promise.all([
    rowsOf(db, workspaceId, filters, page),
    countOf(db, workspaceId, countScope(filters)),
  ]);
  return { rows, total, position: positionOf(rows) };
}

async function rowsOf(db: Db, workspaceId: string, filters: Filters, page: Page): Promise<SummaryRow[]> {
  const { status, channelId, assigneeId } = filters;
  const values: unknown[] = [workspaceId];
  if (channelId) values.push(channelId);
  if (assigneeId !== undefined) values.push(assigneeId ?? none);
  const after = momentAndId(page);
  if (after) return preparedList(filters, 'after')(db, [...values, ...after], page);
  if (page.offset < deep || values.length > 1) return preparedList(filters)(db, values, page);
  const start = await skipDays(db, workspaceId, status ? [status] : statuses, page.offset);
  if (!start) return [];
  const slice = { perPage: page.perPage, offset: start.offset };
  const text = pageOfConversations(idsQuery(status, ['updated_at < $2'], slice));
  return db.alone.queryText<SummaryRow>(text, [workspaceId, start.before]);
}

/** From here on adding up days costs less than reading past so many rows. */
const deep = 2_000;

function positionOf(rows: SummaryRow[]): Position | undefined {
  const last = rows.at(-1);
  return last && [last.updated_at, last.id];
}

/** The name the database's triggers count this combination under. */
function countScope({ status, channelId, assigneeId }: Filters): string {
  let scope = 'conversations';
  if (status) scope += ` status=${status}`;
  if (channelId) scope += ` channel=${channelId}`;
  if (assigneeId !== undefined) scope += ` assignee=${assigneeId ?? 'unassigned'}`;
  return scope;
}

/** Stands for no assignee in assignee_or_none. */
const none = '00000000-0000-0000-0000-000000000000';

const prepared = new Map<string, ReturnType<typeof paged<SummaryRow>>>();

type From = '' | 'after';

const nameOf = (status: Status | undefined, byChannel: boolean, byAssignee: boolean, from: From): string =>
  ['conversations.list', status ?? 'any', byChannel ? 'channel' : '', byAssignee ? 'assignee' : '', from]
    .filter((part) => part !== '')
    .join('.');

const preparedList = ({ status, channelId, assigneeId }: Filters, from: From = '') =>
  prepared.get(nameOf(status, channelId !== undefined, assigneeId !== undefined, from))!;

/** Ids by index alone, then the rows of that one page. */
function pageOfConversations(ids: string): string {
  return `
    select ${summaryColumns} from (${ids}) page
    join conversations c on c.workspace_id = $1 and c.id = page.id ${summaryJoins}
    order by c.updated_at desc, c.id desc`;
}

/** Every index on conversations has the status before the time: without a status, four ordered ranges are merged. */
function idsQuery(status: Status | undefined, conditions: string[], slice: Slice): string {
  const inOrder = 'order by updated_at desc, id desc';
  const ofStatus = (one: Status, limit: string) => `
    (select id, updated_at from conversations
     where ${['workspace_id = $1', `status = '${one}'`, ...conditions].join(' and ')} ${inOrder} ${limit})`;
  if (status) return ofStatus(status, limitOf(slice));
  const enough = limitOf({ perPage: slice.offset + slice.perPage, offset: 0 });
  return `${statuses.map((one) => ofStatus(one, enough)).join(' union all ')} ${inOrder} ${limitOf(slice)}`;
}

/** The rarer filters: planned for the values they come with, and counted by index. */
async function listNarrowed(
  db: Db,
  workspaceId: string,
  filters: Filters,
  page: Page,
): Promise<Listing<SummaryRow>> {
  const values: unknown[] = [workspaceId];
  const conditions: string[] = [];
  const where = (value: unknown, condition: (parameter: string) => string) => {
    if (value !== undefined) conditions.push(condition(`$${values.push(value)}`));
  };
  where(filters.channelId, (p) => `channel_id = ${p}`);
  where(filters.assigneeId === null ? none : filters.assigneeId, (p) => `assignee_or_none = ${p}`);
  where(filters.contactId, (p) => `contact_id = ${p}`);
  where(filters.teamId, (p) => `team_id = ${p}`);
  where(filters.updatedSince, (p) => `updated_at >= ${p}`);
  where(
    filters.label,
    (p) => `exists (select from conversation_labels cl
      where cl.workspace_id = $1 and cl.conversation_id = conversations.id
        and cl.label_id = (select l.id from labels l where l.workspace_id = $1 and l.name = ${p}))`,
  );
  const ofStatus = filters.status ? [filters.status] : statuses;
  const after = momentAndId(page);
  const here = after ? [`(updated_at, id) < ($${values.length + 1}, $${values.length + 2})`] : [];
  const ids = idsQuery(filters.status, [...conditions, ...here], page);
  const [rows, [counted]] = await Promise.all([
    db.alone.queryText<SummaryRow>(pageOfConversations(ids), [...values, ...(after ?? [])]),
    db.alone.queryText<{ n: number }>(
      `select count(*) as n from conversations
       where ${['workspace_id = $1', `status in ('${ofStatus.join("','")}')`, ...conditions].join(' and ')}`,
      values,
    ),
  ]);
  return { rows, total: counted?.n ?? 0, position: positionOf(rows) };
}

for (const status of [undefined, ...statuses]) {
  for (const byChannel of [false, true]) {
    for (const byAssignee of [false, true]) {
      const conditions = [
        ...(byChannel ? ['channel_id = $2'] : []),
        ...(byAssignee ? [`assignee_or_none = $${byChannel ? 3 : 2}`] : []),
      ];
      const next = conditions.length + 2;
      for (const from of ['', 'after'] as const) {
        const name = nameOf(status, byChannel, byAssignee, from);
        const all = from ? [...conditions, `(updated_at, id) < ($${next}, $${next + 1})`] : conditions;
        prepared.set(
          name,
          paged(name, (slice) => pageOfConversations(idsQuery(status, all, slice))),
        );
      }
    }
  }
}
