import { type Reader, statement, type Tx } from '../../db/client.ts';
import { sendRows } from '../../db/rows.ts';
import { badCursor, type Listing, type Page } from '../../page.ts';
import type { ThreadRow } from '../queries.ts';
import type { Attachment, DeliveryStatus, MessageType } from './schema.ts';
import type { Sender } from './sender.ts';

export interface UsedTemplate {
  id: string;
  variables: Record<string, unknown>;
}

export interface MessageRow {
  id: string;
  type: MessageType;
  content: string;
  sender_type: Sender['type'];
  sender_id: string | null;
  sender_name: string;
  attachments: Attachment[];
  private: boolean;
  status: DeliveryStatus | null;
  error: string | null;
  created_at: string;
}

type PageRow = { last_seq: number; seq: number | null } & Partial<MessageRow>;

/** Names are read where they live: a contact or agent renamed later has the new name on old messages too. */
const columns = `m.id, m.type, m.content, m.sender_type, m.sender_id, m.attachments, m.private, m.status, m.error,
  m.created_at, coalesce(
    case m.sender_type
      when 'contact' then (select name from contacts where workspace_id = m.workspace_id and id = m.sender_id)
      when 'agent' then (select name from agents where workspace_id = m.workspace_id and id = m.sender_id)
      else (select name from api_keys where workspace_id = m.workspace_id and id = m.sender_id)
    end, 'System') as sender_name`;

/**
 * Messages of a conversation are numbered from 1 without a gap, so any page is one index range and the last number is
 * the total. No row: no such conversation. A row without a message: a page past the end.
 */
const pageAscending = statement<PageRow>(
  'messages.page_ascending',
  `select c.last_seq, m.seq, ${columns} from conversations c
   left join messages m on m.workspace_id = c.workspace_id and m.conversation_id = c.id
     and m.seq > $3 and m.seq <= $3 + $4
   where c.workspace_id = $1 and c.id = $2 order by m.seq`,
);

const pageDescending = statement<PageRow>(
  'messages.page_descending',
  `select c.last_seq, m.seq, ${columns} from conversations c
   left join messages m on m.workspace_id = c.workspace_id and m.conversation_id = c.id
     and m.seq > c.last_seq - $3 - $4 and m.seq <= c.last_seq - $3
   where c.workspace_id = $1 and c.id = $2 order by m.seq desc`,
);

/** From a message backwards; its number stays where it is when others come. */
const pageBefore = statement<PageRow>(
  'messages.page_before',
  `select c.last_seq, m.seq, ${columns} from conversations c
   left join messages m on m.workspace_id = c.workspace_id and m.conversation_id = c.id
     and m.seq >= $3::int - $4::int and m.seq < $3::int
   where c.workspace_id = $1 and c.id = $2 order by m.seq desc`,
);

/** undefined: no such conversation. */
export async function listMessages(
  db: Reader,
  workspaceId: string,
  conversationId: string,
  order: 'asc' | 'desc',
  page: Page,
): Promise<Listing<MessageRow> | undefined> {
  const after = numberAfter(page);
  const backwards = after === undefined ? pageDescending : pageBefore;
  const statement = order === 'asc' ? pageAscending : backwards;
  const found = await db.query(statement, [workspaceId, conversationId, after ?? page.offset, page.perPage]);
  if (found[0] === undefined) return undefined;
  const rows = found.filter((row): row is typeof row & MessageRow => row.id !== null);
  const last = found.at(-1)?.seq;
  return {
    rows,
    total: found[0].last_seq,
    position: last && last !== (order === 'asc' ? found[0].last_seq : 1) ? [String(last)] : undefined,
  };
}

/** The number of the message that a cursor stands at. */
function numberAfter({ after }: Page): number | undefined {
  if (!after) return undefined;
  if (after.length !== 1 || !/^\d{1,9}$/.test(after[0])) {
    throw badCursor('cursor', 'cursor must be a next_cursor that this list gave');
  }
  return Number(after[0]);
}

const findOne = statement<MessageRow>(
  'messages.find',
  `select ${columns} from messages m where m.workspace_id = $1 and m.id = $2`,
);

export async function findMessage(
  db: Reader,
  workspaceId: string,
  id: string,
): Promise<MessageRow | undefined> {
  const [row] = await db.query(findOne, [workspaceId, id]);
  return row;
}

/** A message that has its place in a locked conversation. */
export interface Appended {
  workspaceId: string;
  conversation: ThreadRow;
  seq: number;
  row: MessageRow;
  template: UsedTemplate | null;
}

const insertColumns = `workspace_id, id, conversation_id, seq, type, content, sender_type, sender_id, private, status,
  template_id, template_variables, attachments, created_at`;

const insertOne = statement<never>(
  'messages.insert',
  `insert into messages (${insertColumns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
);

const insertMany = statement<never>(
  'messages.insert_many',
  `insert into messages (${insertColumns})
   select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::text[], $6::text[], $7::text[], $8::uuid[],
     $9::boolean[], $10::text[], $11::uuid[], $12::jsonb[], $13::jsonb[], $14::timestamptz[])`,
);

const enqueue = statement<never>(
  'messages.enqueue',
  `insert into outgoing_queue (workspace_id, id, channel_id, conversation_id, seq, next_at)
   values ($1, $2, $3, $4, $5, clock_timestamp())`,
);

/** Those that are queued go to the workers that take messages to their platforms. */
export function insertMessages(tx: Tx, messages: Appended[]): void {
  sendRows(tx, insertOne, insertMany, messages.map(insertedValues));
  for (const { workspaceId, conversation, seq, row } of messages) {
    if (row.status !== 'queued') continue;
    tx.send(enqueue, [workspaceId, row.id, conversation.channel_id, conversation.id, seq]);
    tx.announce('outgoing');
  }
}

const insertedValues = ({ workspaceId, conversation, seq, row, template }: Appended): unknown[] => [
  workspaceId,
  row.id,
  conversation.id,
  seq,
  row.type,
  row.content,
  row.sender_type,
  row.sender_id,
  row.private,
  row.status,
  template?.id ?? null,
  template && JSON.stringify(template.variables),
  JSON.stringify(row.attachments),
  row.created_at,
];

const touch = statement<never>(
  'messages.touch_conversations',
  `update conversations c set last_seq = touched.last_seq, updated_at = touched.at
   from unnest($1::uuid[], $2::uuid[], $3::int[], $4::timestamptz[]) as touched (workspace_id, id, last_seq, at)
   where c.workspace_id = touched.workspace_id and c.id = touched.id`,
);

/** A message moves its conversation to the top. The status is not named here, so no total is recounted. */
export function touchConversations(tx: Tx, messages: Appended[]): void {
  tx.send(touch, [
    messages.map(({ workspaceId }) => workspaceId),
    messages.map(({ conversation }) => conversation.id),
    messages.map(({ seq }) => seq),
    messages.map(({ row }) => row.created_at),
  ]);
}

const touchIncoming = statement<never>(
  'messages.touch_by_incoming',
  `update conversations set last_seq = $3, updated_at = $4, last_incoming_at = greatest($5, last_incoming_at),
     customer_external_id = coalesce($6, customer_external_id)
   where workspace_id = $1 and id = $2`,
);

/** So does the customer's, which opens the reply window and tells under which name to answer. */
export function touchByIncoming(
  tx: Tx,
  { workspaceId, conversation, seq, row }: Appended,
  wroteAt: string,
  externalId: string | null,
): void {
  tx.send(touchIncoming, [workspaceId, conversation.id, seq, row.created_at, wroteAt, externalId]);
}
