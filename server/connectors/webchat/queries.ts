import type { ChannelRow } from '../../channels/queries.ts';
import type { Attachment } from '../../conversations/messages/schema.ts';
import { type Reader, statement } from '../../db/client.ts';
import { type Cursor, followed } from './cursor.ts';

export type WebchatChannel = Pick<ChannelRow, 'id' | 'after_resolved' | 'settings' | 'sealed_settings'> & {
  workspace_id: string;
};

const findOpen = statement<WebchatChannel>(
  'webchat.find_channel',
  `select workspace_id, id, after_resolved, settings, sealed_settings from channels
   where id = $1 and type = 'webchat' and not archived`,
);

/** A browser has no key, so nothing but the channel's own id says whose it is. */
export async function findWebchatChannel(db: Reader, id: string): Promise<WebchatChannel | undefined> {
  const [row] = await db.query(findOpen, [id]);
  return row;
}

const findContact = statement<{ contact_id: string }>(
  'webchat.find_contact',
  `select contact_id from contact_identities where workspace_id = $1 and channel_id = $2 and identity = $3`,
);

/** undefined: this visitor has not written yet. */
export async function findVisitorContactId(
  db: Reader,
  channel: WebchatChannel,
  externalId: string,
): Promise<string | undefined> {
  const identity = `external_id ${externalId}`;
  const [row] = await db.query(findContact, [channel.workspace_id, channel.id, identity]);
  return row?.contact_id;
}

export interface VisibleRow {
  id: string;
  conversation_id: string;
  seq: number;
  type: 'incoming' | 'outgoing';
  author: string | null;
  content: string;
  attachments: Attachment[];
  created_at: string;
}

/** What a customer may see. The contact's own name is for agents: they may have written something else there. */
const visibleColumns = `m.id, m.conversation_id, m.seq, m.type, m.content, m.attachments, m.created_at,
  case m.sender_type
    when 'agent' then (select name from agents where workspace_id = m.workspace_id and id = m.sender_id)
    when 'bot' then (select name from api_keys where workspace_id = m.workspace_id and id = m.sender_id)
  end as author`;
const isVisible = `m.type in ('incoming', 'outgoing') and not m.private`;

const conversations = `select id, last_seq, created_at from conversations
  where workspace_id = $1 and channel_id = $2 and contact_id = $3 order by created_at desc, id desc`;

export const historyPage = 50;
const historyConversations = 50;

/**
 * The page and the cursor after it are of one snapshot: a stream that goes on from there leaves nothing out. What came
 * after the border in its own conversation is passed over by the index, however much that is.
 */
const history = statement<{ seen: [string, number][] } & (VisibleRow | { id: null })>(
  'webchat.history',
  `with known as materialized (${conversations} limit ${historyConversations}),
   border as (
     select b.created_at, b.conversation_id, b.seq from messages b
     where b.workspace_id = $1 and b.id = $4 and b.conversation_id in (select id from known)),
   page as (
     select m.* from known left join border on true, lateral (
       select ${visibleColumns} from messages m
       where m.workspace_id = $1 and m.conversation_id = known.id and ${isVisible}
         and m.seq < case when known.id = border.conversation_id then border.seq else 2147483647 end
         and ($4::uuid is null or (m.created_at, m.conversation_id, m.seq)
           < (border.created_at, border.conversation_id, border.seq))
       order by m.seq desc limit ${historyPage + 1}) m
     where $4::uuid is null or border.seq is not null
     order by m.created_at desc, m.conversation_id desc, m.seq desc limit ${historyPage + 1})
   select (select coalesce(jsonb_agg(jsonb_build_array(id, last_seq)), '[]') from
       (select id, last_seq from known limit ${followed}) newest) as seen, page.*
   from (values (1)) one left join page on true
   order by page.created_at desc, page.conversation_id desc, page.seq desc`,
);

/** Newest first, one more than a page where there are more. `before` is the uuid of a message. */
export async function listHistory(
  db: Reader,
  channel: WebchatChannel,
  contactId: string,
  before: string | null,
): Promise<{ rows: VisibleRow[]; seen: Cursor }> {
  const found = await db.query(history, [channel.workspace_id, channel.id, contactId, before]);
  const rows = found.filter((row): row is typeof row & VisibleRow => row.id !== null);
  return { rows, seen: new Map(found[0]!.seen) };
}

const newsPage = 100;

const news = statement<VisibleRow>(
  'webchat.news',
  `select m.* from (${conversations} limit ${followed}) known
   left join unnest($4::uuid[], $5::int[]) seen (id, seq) on seen.id = known.id
   cross join lateral (
     select ${visibleColumns} from messages m
     where m.workspace_id = $1 and m.conversation_id = known.id and m.seq > coalesce(seen.seq, 0) and ${isVisible}
     order by m.seq limit ${newsPage}) m
   order by m.created_at, m.conversation_id, m.seq limit ${newsPage}`,
);

/** What came after the cursor, oldest first, each conversation in its own order; a part of it where it is much. */
export function listNews(
  db: Reader,
  channel: WebchatChannel,
  contactId: string,
  cursor: Cursor,
): Promise<VisibleRow[]> {
  const seen = [[...cursor.keys()], [...cursor.values()]];
  return db.query(news, [channel.workspace_id, channel.id, contactId, ...seen]);
}
