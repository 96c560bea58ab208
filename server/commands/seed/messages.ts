import type { Status } from '../../conversations/schema.ts';
import type { Conversation, ConversationPlan } from './plan.ts';
import { copyRow, nothing, text } from './copy-text.ts';
import { failures, notes, textOf } from './phrases.ts';
import { type Random, randomOf } from './random.ts';
import { isoOf } from './times.ts';

export const messageColumns = `messages (workspace_id, id, conversation_id, seq, type, content, sender_type, sender_id,
  private, status, error, attachments, created_at)`;

/** Adds the lines of messages `from` to `to` of a conversation, all of them unless told. */
export function addMessages(
  lines: string[],
  { workspaceId, seed, uuidAt }: Pick<ConversationPlan, 'workspaceId' | 'seed' | 'uuidAt'>,
  conversation: Conversation,
  firstMessage: number,
  from = 1,
  to = conversation.lastSeq,
): { lastIncomingMs: number | null; lastMs: number } {
  const random = randomOf(seed, from === 1 ? 'messages' : `messages from ${from}`, conversation.n);
  const { id, contactId, language, speaker } = conversation;
  let lastIncomingMs: number | null = null;
  let lastMs = conversation.createdMs;
  for (let seq = from; seq <= to; seq++) {
    const createdMs = createdMsAt(random, conversation, seq);
    const kind = kindAt(random, conversation, seq);
    const incoming = kind === 'incoming';
    const status = kind === 'outgoing' ? deliveryOf(random.unit()) : nothing;
    const activity = kind === 'assigned' || kind === 'moved' ? activityOf(kind, conversation) : undefined;
    const content =
      kind === 'note' ? random.pick(notes) : textOf(random, language, incoming ? 'customer' : 'agent');
    lines.push(
      copyRow([
        workspaceId,
        uuidAt(createdMs, firstMessage + seq - 1),
        id,
        seq,
        activity ? 'activity' : incoming ? 'incoming' : 'outgoing',
        text(activity ?? content),
        incoming ? 'contact' : kind === 'assigned' ? 'bot' : 'agent',
        incoming ? contactId : kind === 'assigned' ? nothing : speaker.id,
        kind === 'note' ? 't' : 'f',
        status,
        status === 'failed' ? random.pick(failures) : nothing,
        incoming && random.chance(0.03) ? text(attachment(random)) : '[]',
        isoOf(createdMs),
      ]),
    );
    if (incoming) lastIncomingMs = createdMs;
    lastMs = createdMs;
  }
  return { lastIncomingMs, lastMs };
}

/** From the first moment of the conversation to its last, always forwards. */
function createdMsAt(random: Random, { createdMs, updatedMs, lastSeq }: Conversation, seq: number): number {
  if (seq === lastSeq) return updatedMs;
  const gapMs = (updatedMs - createdMs) / (lastSeq - 1);
  return Math.floor(createdMs + (seq - 1 + (seq === 1 ? 0 : random.unit() * 0.9)) * gapMs);
}

type Kind = 'incoming' | 'outgoing' | 'note' | 'assigned' | 'moved';

function kindAt(random: Random, { lastSeq, status, assignee }: Conversation, seq: number): Kind {
  const unit = random.unit();
  if (seq === lastSeq && seq > 1 && status !== 'open') return 'moved';
  if (seq === 1) return unit < 0.8 ? 'incoming' : 'outgoing';
  if (seq === 2 && lastSeq > 3 && assignee && unit < 0.3) return 'assigned';
  return unit < 0.48 ? 'incoming' : unit < 0.94 ? 'outgoing' : 'note';
}

/** As the service itself words them. */
function activityOf(
  kind: 'assigned' | 'moved',
  { status, speaker }: { status: Status; speaker: { name: string } },
): string {
  return kind === 'assigned' ? `Assigned to ${speaker.name}` : `Status changed from open to ${status}`;
}

/** Never `queued`: that would be sent. */
function deliveryOf(unit: number): string {
  return unit < 0.55 ? 'read' : unit < 0.85 ? 'delivered' : unit < 0.98 ? 'sent' : 'failed';
}

function attachment(random: Random): string {
  const name = `${random.pick(['IMG', 'photo', 'Beleg', '領収書', 'invoice'])}_${random.below(10_000)}`;
  const [type, end] = random.pick([
    ['image/jpeg', 'jpg'],
    ['image/png', 'png'],
    ['application/pdf', 'pdf'],
  ] as const);
  const url = `https://files.example/${random.below(2 ** 31).toString(36)}.${end}`;
  return JSON.stringify([{ url, content_type: type, file_name: `${name}.${end}` }]);
}
