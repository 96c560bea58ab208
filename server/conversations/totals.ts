import { countOf } from '../counts/counts.ts';
import type { Db } from '../db/client.ts';
import { conditionsOf, type Filters } from './filters.ts';
import { statuses } from './schema.ts';

/** Exact. What agents look at all day is kept by the database's triggers; rarer combinations are counted by index. */
export function totalOf(db: Db, workspaceId: string, filters: Filters): Promise<number> {
  const scope = keptScope(filters);
  return scope === undefined ? counted(db, workspaceId, filters) : countOf(db, workspaceId, scope);
}

/** The name that migrations 0001 and 0008 count this combination under. */
function keptScope(filters: Filters): string | undefined {
  const { status, channelId, assigneeId, contactId, teamId, labelId, updatedSince } = filters;
  const ofStatus = status ? `conversations status=${status}` : 'conversations';
  const byPlace = channelId !== undefined || assigneeId !== undefined;
  const others = [teamId, labelId, contactId, updatedSince].filter((value) => value !== undefined);
  if (others.length === 0) {
    const ofChannel = channelId === undefined ? '' : ` channel=${channelId}`;
    const ofAssignee = assigneeId === undefined ? '' : ` assignee=${assigneeId ?? 'unassigned'}`;
    return ofStatus + ofChannel + ofAssignee;
  }
  if (byPlace || others.length > 1) return undefined;
  if (teamId !== undefined) return `${ofStatus} team=${teamId}`;
  if (labelId !== undefined) return `${ofStatus} label=${labelId}`;
  return undefined;
}

async function counted(db: Db, workspaceId: string, filters: Filters): Promise<number> {
  const { conditions, values } = conditionsOf(workspaceId, filters);
  const ofStatus = `status in ('${(filters.status ? [filters.status] : statuses).join("','")}')`;
  const [row] = await db.alone.queryText<{ n: number }>(
    `select count(*) as n from conversations where ${['workspace_id = $1', ofStatus, ...conditions].join(' and ')}`,
    values,
  );
  return row?.n ?? 0;
}
