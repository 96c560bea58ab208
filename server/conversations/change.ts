import { findAgent } from '../agents/queries.ts';
import type { Tx } from '../db/client.ts';
import { invalid } from '../errors.ts';
import { labelsByName } from '../labels/first-use.ts';
import { momentOf } from '../moment.ts';
import { referenced } from '../references.ts';
import { tidyNames } from '../schema.ts';
import { findTeam } from '../teams/queries.ts';
import { activityText } from './activity.ts';
import { conversationOf, namedOf } from './conversations.ts';
import { type ConversationChanges, conversationUpdated } from './events.ts';
import { appendMessage } from './messages/messages.ts';
import { insertMessages } from './messages/queries.ts';
import type { Sender } from './messages/sender.ts';
import { type ConversationRow, updateConversation, updateConversationLabels } from './queries.ts';
import type { ConversationUpdate } from './schema.ts';

/**
 * Changes a locked conversation: the fields, one activity message for each change, one event for all of them, in one
 * transaction. What repeats the present state changes nothing, raises nothing and leaves updated_at alone.
 */
export async function changeConversation(
  tx: Tx,
  workspaceId: string,
  before: ConversationRow,
  input: ConversationUpdate,
  actor: Sender,
): Promise<ConversationRow> {
  const after: ConversationRow = { ...before };
  applySnooze(after, input);
  if (input.assignee_id !== undefined) await assign(tx, workspaceId, after, input.assignee_id);
  if (input.team_id !== undefined) await setTeam(tx, workspaceId, after, input.team_id);
  if (input.labels !== undefined) await setLabels(tx, workspaceId, after, input.labels);

  const changes = changesBetween(before, after);
  const moved = Object.keys(changes).length > 0;
  if (!moved && before.snoozed_until === after.snoozed_until) return before;

  after.updated_at = after.now;
  const activities = activityText(changes).map((content) =>
    appendMessage(workspaceId, after, { type: 'activity', content, sender: actor }),
  );
  insertMessages(tx, activities);
  updateConversation(tx, workspaceId, after);
  if (changes.labels) updateConversationLabels(tx, workspaceId, after.id, after.label_ids);
  if (moved) conversationUpdated(tx, workspaceId, conversationOf(after), changes);
  return after;
}

/** A snooze ends with its status; only a snoozed conversation has a time to wake. */
function applySnooze(after: ConversationRow, { status, snoozed_until }: ConversationUpdate): void {
  if (status !== undefined) {
    if (status !== 'snoozed' || after.status !== 'snoozed') after.snoozed_until = null;
    after.status = status;
  }
  if (snoozed_until === undefined) return;
  if (snoozed_until === null) {
    after.snoozed_until = null;
    return;
  }
  if (after.status !== 'snoozed') {
    throw invalid('snoozed_until', 'status', 'snoozed_until goes with status: snoozed');
  }
  const until = momentOf('snoozed_until', snoozed_until);
  if (until <= after.now) throw invalid('snoozed_until', 'future', 'snoozed_until must lie in the future');
  after.snoozed_until = until;
}

async function assign(tx: Tx, workspaceId: string, after: ConversationRow, id: string | null): Promise<void> {
  const agent =
    id === null
      ? null
      : await referenced('assignee_id', 'agent', id, (uuid) => findAgent(tx, workspaceId, uuid));
  after.assignee_id = agent?.id ?? null;
  after.assignee_name = agent?.name ?? null;
}

async function setTeam(
  tx: Tx,
  workspaceId: string,
  after: ConversationRow,
  id: string | null,
): Promise<void> {
  const team =
    id === null ? null : await referenced('team_id', 'team', id, (uuid) => findTeam(tx, workspaceId, uuid));
  after.team_id = team?.id ?? null;
  after.team_name = team?.name ?? null;
}

/** The same labels in another order are the same labels. */
async function setLabels(
  tx: Tx,
  workspaceId: string,
  after: ConversationRow,
  names: string[],
): Promise<void> {
  const tidy = tidyNames(names);
  if (tidy.length === after.labels.length && tidy.every((name) => after.labels.includes(name))) return;
  after.label_ids = await labelsByName(tx, workspaceId, tidy, after.label_ids);
  after.labels = tidy;
}

function changesBetween(before: ConversationRow, after: ConversationRow): ConversationChanges {
  const changes: ConversationChanges = {};
  if (before.status !== after.status) changes.status = { from: before.status, to: after.status };
  if (before.assignee_id !== after.assignee_id) {
    changes.assignee = {
      from: namedOf('agent', before.assignee_id, before.assignee_name),
      to: namedOf('agent', after.assignee_id, after.assignee_name),
    };
  }
  if (before.team_id !== after.team_id) {
    changes.team = {
      from: namedOf('team', before.team_id, before.team_name),
      to: namedOf('team', after.team_id, after.team_name),
    };
  }
  if (before.labels !== after.labels) changes.labels = { from: before.labels, to: after.labels };
  return changes;
}
