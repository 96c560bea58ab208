import { type Status, statuses } from '../../conversations/schema.ts';
import { copyRow, nothing } from './copy-text.ts';
import { addMessages } from './messages.ts';
import type { Conversation, ConversationPlan } from './plan.ts';
import { type Random, randomOf, unitOf } from './random.ts';
import type { Settings } from './settings.ts';
import { dayMs, isoOf, yearMs } from './times.ts';

type Agent = Settings['agents'][number];

export const conversationColumns = `conversations (workspace_id, id, channel_id, contact_id, assignee_id, team_id, status,
  snoozed_until, label_ids, last_seq, last_incoming_at, created_at, updated_at)`;
export const conversationLabelColumns = 'conversation_labels (workspace_id, label_id, conversation_id)';

/** Conversations `from` up to `to` with all their messages, the first of which is message number `firstMessage`. */
export function conversationRows(plan: ConversationPlan, from: number, to: number, firstMessage: number) {
  const rows = {
    conversations: [] as string[],
    conversationLabels: [] as string[],
    messages: [] as string[],
  };
  let message = firstMessage;
  for (let i = from; i < to; i++) {
    const conversation = conversationAt(plan, i);
    const { lastIncomingMs } = addMessages(rows.messages, plan, conversation, message);
    rows.conversations.push(conversationRow(plan, conversation, lastIncomingMs));
    for (const labelId of conversation.labelIds) {
      rows.conversationLabels.push(copyRow([plan.workspaceId, labelId, conversation.id]));
    }
    message += conversation.lastSeq;
  }
  return rows;
}

export function conversationRow(
  { workspaceId }: Pick<ConversationPlan, 'workspaceId'>,
  conversation: Conversation,
  lastIncomingMs: number | null,
): string {
  return copyRow([
    workspaceId,
    conversation.id,
    conversation.channelId,
    conversation.contactId,
    conversation.assignee?.id ?? nothing,
    conversation.teamId ?? nothing,
    conversation.status,
    conversation.snoozedUntil ?? nothing,
    `{${conversation.labelIds.join(',')}}`,
    conversation.lastSeq,
    lastIncomingMs === null ? nothing : isoOf(lastIncomingMs),
    isoOf(conversation.createdMs),
    isoOf(conversation.updatedMs),
  ]);
}

function conversationAt(plan: ConversationPlan, i: number): Conversation {
  const { seed, before, messageCounts, nowMs, uuidAt, settings, contacts } = plan;
  const random = randomOf(seed, 'conversation', before + i);
  const lastSeq = messageCounts[i]!;
  const updatedMs = Math.floor(nowMs - yearMs + ((i + random.unit()) * yearMs) / messageCounts.length);
  const createdMs = updatedMs - durationMs(random, lastSeq);
  const contact = contacts.pick(random, createdMs);
  const assignee = random.chance(0.25) ? null : favourite(random, settings.agents);
  const status = statusOf(random.unit());
  return {
    n: before + i,
    id: uuidAt(createdMs, i),
    contactId: contact.id,
    language: contact.language,
    channelId: favourite(random, settings.channels).id,
    assignee,
    speaker: assignee ?? random.pick(settings.agents),
    teamId: random.chance(0.3) ? random.pick(settings.teamIds) : null,
    status,
    snoozedUntil: status === 'snoozed' && random.chance(0.5) ? wakingTime(random, nowMs) : null,
    labelIds: labelsOf(random, settings.labelIds),
    lastSeq,
    createdMs,
    updatedMs,
  };
}

/** Open, on an `api` channel if there is one (no reply window closes it), over the whole year up to now; its number is the one after all others. */
export function longConversation(plan: ConversationPlan, lastSeq: number): Conversation {
  const { seed, before, messageCounts, nowMs, uuidAt, settings, contacts } = plan;
  const n = before + messageCounts.length;
  const contact = contacts.pick(randomOf(seed, 'long conversation', n), nowMs - yearMs);
  const [speaker] = settings.agents as [Agent];
  return {
    n,
    id: uuidAt(nowMs - yearMs, messageCounts.length),
    contactId: contact.id,
    language: contact.language,
    channelId: (settings.channels.find(({ type }) => type === 'api') ?? settings.channels[0]!).id,
    assignee: speaker,
    speaker,
    teamId: null,
    status: 'open',
    snoozedUntil: null,
    labelIds: [],
    lastSeq,
    createdMs: nowMs - yearMs,
    updatedMs: nowMs,
  };
}

const shares: Record<Status, number> = { open: 0.25, pending: 0.12, resolved: 0.55, snoozed: 0.08 };

function statusOf(unit: number): Status {
  let left = unit;
  return statuses.find((status) => (left -= shares[status]) < 0) ?? 'open';
}

/** The next message after seconds or after half a day, as people are; a month at most, ten milliseconds a message at least. */
function durationMs(random: Random, lastSeq: number): number {
  const gaps = Math.max(lastSeq - 1, 0);
  const gapMs = 20_000 * 2_000 ** random.unit();
  return Math.floor(Math.max(Math.min(gaps * gapMs, 30 * dayMs), gaps * 10));
}

/** Far enough away that seeded conversations do not wake up under a benchmark. */
const wakingTime = (random: Random, nowMs: number) =>
  isoOf(nowMs + Math.floor((30 + 335 * random.unit()) * dayMs));

/** The first ones more often than the last. */
const favourite = <T>(random: Random, list: readonly T[]): T =>
  list[Math.floor(random.unit() ** 1.5 * list.length)]!;

function labelsOf(random: Random, labelIds: string[]): string[] {
  const found = new Set<string>();
  for (let left = random.below(4) - 1; left > 0; left--) found.add(favourite(random, labelIds));
  return [...found];
}

/** Shares `total` out, few to most and many to some, to the last one. */
export function shareOut(total: number, conversations: number, seed: number): Uint32Array {
  const weight = (i: number) => 0.1 + 1 / (0.05 + unitOf(seed, 'length', i));
  let sum = 0;
  for (let i = 0; i < conversations; i++) sum += weight(i);
  const counts = new Uint32Array(conversations);
  let weighed = 0;
  let given = 0;
  for (let i = 0; i < conversations; i++) {
    weighed += weight(i);
    const upToHere = i === conversations - 1 ? total : Math.min(total, Math.round((total * weighed) / sum));
    counts[i] = upToHere - given;
    given = upToHere;
  }
  return counts;
}
