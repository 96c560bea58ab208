import { findChannel } from '../channels/queries.ts';
import { type ChannelType, channelTypes } from '../channels/types.ts';
import type { Tx } from '../db/client.ts';
import { invalid } from '../errors.ts';
import { toId } from '../ids.ts';
import { referenced } from '../references.ts';
import { insertTemplate, lockTemplate, type TemplateRow, updateTemplate } from './queries.ts';
import { defaultLanguage, type NewTemplate, type Template, type TemplateUpdate } from './schema.ts';

export async function createTemplate(tx: Tx, workspaceId: string, input: NewTemplate): Promise<TemplateRow> {
  const channel = await channelNamed(tx, workspaceId, input.channel_id ?? null);
  const platformDecides = isApproving(channel.type);
  if (platformDecides && input.status !== undefined) throw notYours(channel.type);
  return insertTemplate(tx, workspaceId, {
    name: input.name,
    language: input.language ?? defaultLanguage,
    body: input.body,
    status: platformDecides ? 'pending' : (input.status ?? 'approved'),
    channel_id: channel.id,
  });
}

/** Only what the input names changes, except the status: where a platform approves, it approved another text. */
export async function changeTemplate(
  tx: Tx,
  workspaceId: string,
  id: string,
  input: TemplateUpdate,
): Promise<TemplateRow | undefined> {
  const before = await lockTemplate(tx, workspaceId, id);
  if (!before) return undefined;
  const same = input.channel_id === undefined || input.channel_id === shownChannelId(before);
  const channel = same
    ? { id: before.channel_id, type: before.channel_type }
    : await channelNamed(tx, workspaceId, input.channel_id ?? null);
  const after = {
    ...before,
    name: input.name ?? before.name,
    language: input.language ?? before.language,
    body: input.body ?? before.body,
    channel_id: channel.id,
    archived: input.archived ?? before.archived,
  };
  return updateTemplate(tx, workspaceId, {
    ...after,
    status: statusAfter(before, after, channel.type, input),
  });
}

function statusAfter(
  before: TemplateRow & { channel_type: ChannelType | null },
  after: TemplateRow,
  channelType: ChannelType | null,
  { status }: TemplateUpdate,
): TemplateRow['status'] {
  if (!isApproving(channelType)) {
    // The verdict of a platform that the template has left says nothing about it any more.
    return status ?? (isApproving(before.channel_type) ? 'approved' : before.status);
  }
  if (status !== undefined && status !== before.status) throw notYours(channelType);
  const edited = (['name', 'language', 'body', 'channel_id'] as const).some(
    (field) => before[field] !== after[field],
  );
  return edited ? 'pending' : before.status;
}

async function channelNamed(
  tx: Tx,
  workspaceId: string,
  id: string | null,
): Promise<{ id: string | null; type: ChannelType | null }> {
  if (id === null) return { id, type: null };
  return referenced('channel_id', 'channel', id, (uuid) => findChannel(tx, workspaceId, uuid));
}

const isApproving = (type: ChannelType | null): boolean =>
  type !== null && channelTypes[type].approvesTemplates;

const notYours = (type: ChannelType | null) =>
  invalid(
    'status',
    'platform',
    `status cannot be set: the ${type} platform decides which of its templates are approved`,
  );

const shownChannelId = (row: TemplateRow) => row.channel_id && toId('channel', row.channel_id);

export function templateOf(row: TemplateRow): Template {
  return {
    id: toId('template', row.id),
    name: row.name,
    language: row.language,
    body: row.body,
    status: row.status,
    channel_id: shownChannelId(row),
    category: row.category,
    archived: row.archived,
    created_at: row.created_at,
  };
}
