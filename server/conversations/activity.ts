import type { ConversationChanges } from './events.ts';

/** The line an agent reads in the thread, one for each change. */
export function activityText({ status, assignee, team, labels }: ConversationChanges): string[] {
  const lines: string[] = [];
  if (status) lines.push(`Status changed from ${status.from} to ${status.to}`);
  if (assignee) lines.push(assignmentText('Assigned to', 'Unassigned from', assignee));
  if (team) lines.push(assignmentText('Team set to', 'Team removed:', team));
  if (labels) lines.push(labelText(labels));
  return lines;
}

interface Move {
  from: { name: string } | null;
  to: { name: string } | null;
}

const assignmentText = (set: string, unset: string, { from, to }: Move): string =>
  to ? `${set} ${to.name}` : `${unset} ${from?.name}`;

function labelText({ from, to }: { from: string[]; to: string[] }): string {
  const added = to.filter((name) => !from.includes(name));
  const removed = from.filter((name) => !to.includes(name));
  const parts = [
    added.length > 0 ? `Labels added: ${added.join(', ')}` : '',
    removed.length > 0 ? `Labels removed: ${removed.join(', ')}` : '',
  ];
  return parts.filter((part) => part !== '').join('. ');
}
