import { channelTypes, type ChannelType } from '../channels/types.ts';
import { type Reader, statement, type Tx } from '../db/client.ts';
import { gather } from '../db/gather.ts';
import { newUuid } from '../ids.ts';
import type { Status } from './schema.ts';

/** What a list shows of a conversation. */
export interface SummaryRow {
  id: string;
  status: Status;
  channel_id: string;
  channel_type: ChannelType;
  channel_name: string;
  contact_id: string;
  contact_name: string;
  contact_phone: string | null;
  assignee_id: string | null;
  assignee_name: string | null;
  labels: string[];
  created_at: string;
  updated_at: string;
}

/** What is shown of one conversation. */
export interface DetailRow extends SummaryRow {
  team_id: string | null;
  team_name: string | null;
  snoozed_until: string | null;
  /** The customer's last message on this channel, where the channel has a reply window. */
  window_from: string | null;
  /** The database's clock, never before updated_at; after the lock where the row was locked. */
  now: string;
}

/** And what it takes to change it. */
export interface ConversationRow extends DetailRow {
  label_ids: string[];
  last_seq: number;
  channel_archived: boolean;
  /** Messages leave through a connector; else storing them is all there is to sending. */
  channel_has_outlet: boolean;
}

/** What it takes to add a message. */
export type ThreadRow = Pick<
  ConversationRow,
  | 'id'
  | 'status'
  | 'channel_id'
  | 'channel_type'
  | 'channel_archived'
  | 'channel_has_outlet'
  | 'contact_id'
  | 'contact_name'
  | 'contact_phone'
  | 'last_seq'
  | 'updated_at'
  | 'window_from'
  | 'now'
>;

/** Names of the labels in the order they were given; most conversations have none. */
const labelNames = `case when c.label_ids = '{}' then '{}' else array(
  select l.name from unnest(c.label_ids) with ordinality as u (id, place)
  join labels l on l.workspace_id = c.workspace_id and l.id = u.id order by place) end as labels`;

export const summaryColumns = `c.id, c.status, c.channel_id, ch.type as channel_type, ch.name as channel_name,
  c.contact_id, ct.name as contact_name, ct.phone as contact_phone, c.assignee_id, a.name as assignee_name,
  ${labelNames}, c.created_at, c.updated_at`;

const threadJoins = `
  join channels ch on ch.workspace_id = c.workspace_id and ch.id = c.channel_id
  join contacts ct on ct.workspace_id = c.workspace_id and ct.id = c.contact_id`;

export const summaryJoins = `${threadJoins}
  left join agents a on a.workspace_id = c.workspace_id and a.id = c.assignee_id`;

const windowedTypes = Object.entries(channelTypes)
  .filter(([, { windowHours }]) => windowHours !== null)
  .map(([type]) => `'${type}'`)
  .join(', ');

const replyColumns = `case when ch.type in (${windowedTypes}) then (
    select max(o.last_incoming_at) from conversations o
    where o.workspace_id = c.workspace_id and o.contact_id = c.contact_id and o.channel_id = c.channel_id
  ) end as window_from,
  greatest(clock_timestamp(), c.updated_at) as now`;

const outletColumns = `c.last_seq, ch.archived as channel_archived,
  ch.type <> 'api' or ch.settings ? 'callback_url' as channel_has_outlet`;

const detailColumns = `${summaryColumns}, c.team_id, t.name as team_name, c.snoozed_until, ${replyColumns}`;

const columns = `${detailColumns}, c.label_ids, ${outletColumns}`;

const threadColumns = `c.id, c.status, c.channel_id, ch.type as channel_type, c.contact_id, ct.name as contact_name,
  ct.phone as contact_phone, c.updated_at, ${replyColumns}, ${outletColumns}`;

const joins = `${summaryJoins}
  left join teams t on t.workspace_id = c.workspace_id and t.id = c.team_id`;

const find = statement<ConversationRow>(
  'conversations.find',
  `select ${columns} from conversations c ${joins} where c.workspace_id = $1 and c.id = $2`,
);

export async function findConversation(
  db: Reader,
  workspaceId: string,
  id: string,
): Promise<ConversationRow | undefined> {
  const [row] = await db.query(find, [workspaceId, id]);
  return row;
}

const findMany = statement<DetailRow & { place: number }>(
  'conversations.find_many',
  `select asked.place, ${detailColumns}
   from unnest($1::uuid[], $2::uuid[]) with ordinality as asked (workspace_id, id, place)
   join conversations c on c.workspace_id = asked.workspace_id and c.id = asked.id ${joins}`,
);

/** Of 130 µs that PostgreSQL takes to find one, 90 go into setting up its joins. */
export function conversationReader(db: Reader) {
  const find = gather(async (asked: { workspaceId: string; id: string }[]) => {
    const rows = await db.query(findMany, [
      asked.map(({ workspaceId }) => workspaceId),
      asked.map(({ id }) => id),
    ]);
    const found: (DetailRow | undefined)[] = [];
    for (const row of rows) found[row.place - 1] = row;
    return found;
  });
  return (workspaceId: string, id: string) => find({ workspaceId, id });
}

/** The materialised step is what makes `now` a time after the lock: a plain FOR UPDATE reads the clock before it waits. */
const locking = (which: string): string =>
  `with c as materialized (
     select * from conversations where workspace_id = $1 and id = ${which} for no key update)
   select ${columns} from c ${joins}`;

const lock = statement<ConversationRow>('conversations.lock', locking('$2'));

export async function lockConversation(
  tx: Tx,
  workspaceId: string,
  id: string,
): Promise<ConversationRow | undefined> {
  const [row] = await tx.query(lock, [workspaceId, id]);
  return row;
}

const lockFree = statement<ThreadRow & { place: number }>(
  'conversations.lock_free',
  `with c as materialized (
     select asked.place, c.* from unnest($1::uuid[], $2::uuid[]) with ordinality as asked (workspace_id, id, place)
     join conversations c on c.workspace_id = asked.workspace_id and c.id = asked.id
     for no key update of c skip locked)
   select c.place, ${threadColumns} from c ${threadJoins}`,
);

/** Those that nobody holds, in their places. */
export async function lockFreeConversations(
  tx: Tx,
  asked: { workspaceId: string; conversationId: string }[],
): Promise<(ThreadRow | undefined)[]> {
  const rows = await tx.query(lockFree, [
    asked.map(({ workspaceId }) => workspaceId),
    asked.map(({ conversationId }) => conversationId),
  ]);
  const found: (ThreadRow | undefined)[] = asked.map(() => undefined);
  for (const row of rows) found[row.place - 1] = row;
  return found;
}

const lockNewest = statement<ConversationRow>(
  'conversations.lock_newest',
  locking(`(
    select id from conversations where workspace_id = $1 and contact_id = $2 and channel_id = $3
    order by created_at desc, id desc limit 1)`),
);

/** Of a contact on a channel. */
export async function lockNewestConversation(
  tx: Tx,
  workspaceId: string,
  contactId: string,
  channelId: string,
): Promise<ConversationRow | undefined> {
  const [row] = await tx.query(lockNewest, [workspaceId, contactId, channelId]);
  return row;
}

const lockNewestKnown = statement<ConversationRow>(
  'conversations.lock_newest_known',
  locking(`(
    select n.id from contact_identities i
    join conversations n on n.workspace_id = i.workspace_id and n.contact_id = i.contact_id and n.channel_id = i.channel_id
    where i.workspace_id = $1 and i.channel_id = $2 and i.identity = $3
    order by n.created_at desc, n.id desc limit 1)`),
);

/** Of whoever is known on a channel by this identity. */
export async function lockNewestConversationOf(
  tx: Tx,
  workspaceId: string,
  channelId: string,
  identity: string,
): Promise<ConversationRow | undefined> {
  const [row] = await tx.query(lockNewestKnown, [workspaceId, channelId, identity]);
  return row;
}

const insert = statement<ConversationRow>(
  'conversations.insert',
  `with c as (
     insert into conversations (workspace_id, id, channel_id, contact_id, assignee_id)
     values ($1, $2, $3, $4, $5) returning *)
   select ${columns} from c ${joins}`,
);

export async function insertConversation(
  tx: Tx,
  workspaceId: string,
  values: { channelId: string; contactId: string; assigneeId: string | null },
): Promise<ConversationRow> {
  const { channelId, contactId, assigneeId } = values;
  const [row] = await tx.query(insert, [workspaceId, newUuid(), channelId, contactId, assigneeId]);
  return row!;
}

const update = statement<never>(
  'conversations.update',
  `update conversations set status = $3, assignee_id = $4, team_id = $5, label_ids = $6, snoozed_until = $7,
     last_seq = $8, updated_at = $9
   where workspace_id = $1 and id = $2`,
);

/** Writes a locked row back as it now is. */
export function updateConversation(tx: Tx, workspaceId: string, row: ConversationRow): void {
  tx.send(update, [
    workspaceId,
    row.id,
    row.status,
    row.assignee_id,
    row.team_id,
    row.label_ids,
    row.snoozed_until,
    row.last_seq,
    row.updated_at,
  ]);
}

const relabel = statement<never>(
  'conversations.relabel',
  `with gone as (
     delete from conversation_labels where workspace_id = $1 and conversation_id = $2 and label_id <> all ($3::uuid[]))
   insert into conversation_labels (workspace_id, label_id, conversation_id)
   select $1, label_id, $2 from unnest($3::uuid[]) label_id
   on conflict do nothing`,
);

export function updateConversationLabels(tx: Tx, workspaceId: string, id: string, labelIds: string[]): void {
  tx.send(relabel, [workspaceId, id, labelIds]);
}
