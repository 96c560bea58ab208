import { type Reader, statement, type Tx } from '../db/client.ts';
import { listing } from '../db/listing.ts';
import type { EventType } from '../events/names.ts';
import { newUuid } from '../ids.ts';
import type { Listing, Page } from '../page.ts';

export interface WebhookRow {
  id: string;
  url: string;
  events: EventType[];
  failing_since: string | null;
  created_at: string;
}

const columns = 'id, url, events, failing_since, created_at';
const live = 'workspace_id = $1 and not deleted';

const list = statement<WebhookRow>(
  'webhooks.list',
  `select ${columns} from webhooks where ${live} order by created_at desc, id desc limit $2::int offset $3::int`,
);
const count = statement<{ n: number }>('webhooks.count', `select count(*) as n from webhooks where ${live}`);

export function listWebhooks(db: Reader, workspaceId: string, page: Page): Promise<Listing<WebhookRow>> {
  return listing(db, list, count, [workspaceId], page);
}

const find = statement<WebhookRow>(
  'webhooks.find',
  `select ${columns} from webhooks where ${live} and id = $2`,
);

export async function findWebhook(
  db: Reader,
  workspaceId: string,
  id: string,
): Promise<WebhookRow | undefined> {
  const [row] = await db.query(find, [workspaceId, id]);
  return row;
}

const lockWorkspace = statement<object>(
  'webhooks.lock_workspace',
  `select from workspaces where id = $1 for no key update`,
);

/**
 * How many there are, and no one adds another before this transaction ends: the limit is exact. Counted in a statement
 * of its own, whose snapshot comes after the lock.
 */
export async function countWebhooksLocked(tx: Tx, workspaceId: string): Promise<number> {
  const [, [row]] = await Promise.all([
    tx.query(lockWorkspace, [workspaceId]),
    tx.query(count, [workspaceId]),
  ]);
  return row?.n ?? 0;
}

const insert = statement<WebhookRow>(
  'webhooks.insert',
  `insert into webhooks (workspace_id, id, url, events, sealed_secret) values ($1, $2, $3, $4, $5) returning ${columns}`,
);

export async function insertWebhook(
  tx: Tx,
  workspaceId: string,
  values: { url: string; events: EventType[]; sealedSecret: Buffer },
): Promise<WebhookRow> {
  const [row] = await tx.query(insert, [
    workspaceId,
    newUuid(),
    values.url,
    values.events,
    values.sealedSecret,
  ]);
  return row!;
}

const update = statement<WebhookRow>(
  'webhooks.update',
  `update webhooks set url = coalesce($3, url), events = coalesce($4, events),
     failing_since = case when $3 <> url then null else failing_since end
   where ${live} and id = $2 returning ${columns}`,
);

export async function updateWebhook(
  tx: Tx,
  workspaceId: string,
  id: string,
  values: { url: string | null; events: EventType[] | null },
): Promise<WebhookRow | undefined> {
  const [row] = await tx.query(update, [workspaceId, id, values.url, values.events]);
  return row;
}

const rotate = statement<WebhookRow>(
  'webhooks.rotate',
  `update webhooks set sealed_previous_secret = sealed_secret, previous_secret_until = clock_timestamp() + interval '24 h',
     sealed_secret = $3
   where ${live} and id = $2 returning ${columns}`,
);

/** The old secret signs beside the new one for a day. */
export async function rotateSecret(
  tx: Tx,
  workspaceId: string,
  id: string,
  sealedSecret: Buffer,
): Promise<WebhookRow | undefined> {
  const [row] = await tx.query(rotate, [workspaceId, id, sealedSecret]);
  return row;
}

const lockAgainstClaims = statement<{ locked: unknown }>(
  'webhooks.lock_against_claims',
  `select pg_advisory_xact_lock(hashtextextended('webhook ' || $1, 0)) as locked`,
);

const remove = statement<{ id: string }>(
  'webhooks.delete',
  `update webhooks set deleted = true where ${live} and id = $2 returning id`,
);

/** Waits for a worker that is just starting deliveries to it: once this has committed, none starts. */
export async function deleteWebhook(
  tx: Tx,
  workspaceId: string,
  id: string,
): Promise<{ id: string } | undefined> {
  const [, [row]] = await Promise.all([
    tx.query(lockAgainstClaims, [id]),
    tx.query(remove, [workspaceId, id]),
  ]);
  tx.announce('deliveries'); // what waits is cancelled
  return row;
}
