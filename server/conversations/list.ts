import type { Db } from '../db/client.ts';
import { limitOf, paged, type Slice } from '../db/paged.ts';
import { type Listing, momentAndId, type Page } from '../page.ts';
import { skipDays } from './days.ts';
import { conditionsOf, type Filters, none } from './filters.ts';
import { type SummaryRow, summaryColumns, summaryJoins } from './queries.ts';
import { type Status, statuses } from './schema.ts';
import { totalOf } from './totals.ts';

/** Newest update first. Totals and first pages cost the same at a thousand conversations and at a million. */
export async function listConversations(
  db: Db,
  workspaceId: string,
  filters: Filters,
  page: Page,
): Promise<Listing<SummaryRow>> {
  const [rows, total] = await Promise.all([
    rowsOf(db, workspaceId, filters, page),
    totalOf(db, workspaceId, filters),
  ]);
  const last = rows.at(-1);
  return { rows, total, position: last && [last.updated_at, last.id] };
}

async function rowsOf(db: Db, workspaceId: string, filters: Filters, page: Page): Promise<SummaryRow[]> {
  const { status, channelId, assigneeId, contactId, teamId, labelId, updatedSince } = filters;
  if ((contactId ?? teamId ?? labelId ?? updatedSince) !== undefined)
    return narrowedRows(db, workspaceId, filters, page);
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

/** The rarer filters: planned for the values they come with. */
function narrowedRows(db: Db, workspaceId: string, filters: Filters, page: Page): Promise<SummaryRow[]> {
  const { conditions, values } = conditionsOf(workspaceId, filters);
  const after = momentAndId(page);
  const here = after ? [`(updated_at, id) < ($${values.length + 1}, $${values.length + 2})`] : [];
  const ids = idsQuery(filters.status, [...conditions, ...here], page);
  return db.alone.queryText<SummaryRow>(pageOfConversations(ids), [...values, ...(after ?? [])]);
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
