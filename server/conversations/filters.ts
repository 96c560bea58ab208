import type { Reader } from '../db/client.ts';
import { fromId } from '../ids.ts';
import { findLabelByName } from '../labels/queries.ts';
import { momentOf } from '../moment.ts';
import type { ConversationQuery, Status } from './schema.ts';

export interface Filters {
  status?: Status | undefined;
  channelId?: string | undefined;
  /** null: conversations without an assignee. */
  assigneeId?: string | null | undefined;
  contactId?: string | undefined;
  teamId?: string | undefined;
  labelId?: string | undefined;
  updatedSince?: string | undefined;
}

/** undefined: an id or a label that can name nothing, so the list is empty. */
export async function filtersOf(
  db: Reader,
  workspaceId: string,
  query: ConversationQuery,
): Promise<Filters | undefined> {
  const filters: Filters = { status: query.status };
  if (query.updated_since !== undefined)
    filters.updatedSince = momentOf('updated_since', query.updated_since);
  if (query.assignee_id === 'unassigned') filters.assigneeId = null;
  else if (query.assignee_id !== undefined) {
    filters.assigneeId = fromId('agent', query.assignee_id);
    if (!filters.assigneeId) return undefined;
  }
  if (query.channel_id !== undefined && !(filters.channelId = fromId('channel', query.channel_id)))
    return undefined;
  if (query.contact_id !== undefined && !(filters.contactId = fromId('contact', query.contact_id)))
    return undefined;
  if (query.team_id !== undefined && !(filters.teamId = fromId('team', query.team_id))) return undefined;
  if (query.label !== undefined) {
    filters.labelId = (await findLabelByName(db, workspaceId, query.label))?.id;
    if (!filters.labelId) return undefined;
  }
  return filters;
}

/** Stands for no assignee in assignee_or_none. */
export const none = '00000000-0000-0000-0000-000000000000';

/** What they ask for beside the status, as conditions on conversations of the workspace $1. */
export function conditionsOf(
  workspaceId: string,
  filters: Filters,
): { conditions: string[]; values: unknown[] } {
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
    filters.labelId,
    (p) => `exists (select from conversation_labels cl
      where cl.workspace_id = $1 and cl.conversation_id = conversations.id and cl.label_id = ${p})`,
  );
  return { conditions, values };
}
