import { archivedReference, notFound, unknownReference } from './errors.ts';
import { fromId, type Kind } from './ids.ts';

const nouns: Record<Kind, string> = {
  workspace: 'workspace',
  key: 'API key',
  agent: 'agent',
  team: 'team',
  channel: 'channel',
  template: 'template',
  label: 'label',
  customAttribute: 'custom attribute',
  contact: 'contact',
  conversation: 'conversation',
  message: 'message',
  webhook: 'webhook',
  event: 'event',
  media: 'media',
  delivery: 'delivery',
};

type Find<Row> = (uuid: string) => Promise<Row | undefined>;

/** What an id in a path names: 404 when it is malformed, missing or of another workspace. */
export async function byId<Row>(kind: Kind, id: string, find: Find<Row>): Promise<Row> {
  const row = await findById(kind, id, find);
  if (row === undefined) throw notFound(nouns[kind].charAt(0).toUpperCase() + nouns[kind].slice(1));
  return row;
}

/** What an id in a body names: 422 for the same three, and for what is archived. */
export async function referenced<Row extends { id: string; archived?: boolean }>(
  field: string,
  kind: Kind,
  id: string,
  find: Find<Row>,
): Promise<Row> {
  const row = await findById(kind, id, find);
  if (row === undefined) throw unknownReference(field, nouns[kind]);
  if (row.archived) throw archivedReference(field, nouns[kind]);
  return row;
}

async function findById<Row>(kind: Kind, id: string, find: Find<Row>): Promise<Row | undefined> {
  const uuid = fromId(kind, id);
  return uuid === undefined ? undefined : await find(uuid);
}
