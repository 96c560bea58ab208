import { randomBytes } from 'node:crypto';
import { type Reader, statement, type Tx } from '../db/client.ts';
import { finding, listing } from '../db/listing.ts';
import { hashKey } from '../http/authenticate.ts';
import type { Scope } from '../http/scopes.ts';
import { newUuid } from '../ids.ts';
import type { Listing, Page } from '../page.ts';
import { keepWithinLimit } from '../workspaces/limit.ts';

export interface KeyRow {
  id: string;
  name: string;
  scopes: Scope[];
  agent_id: string | null;
  expires_at: string | null;
  last_used_at: string | null;
  revoked: boolean;
  created_at: string;
}

const columns = 'id, name, scopes, agent_id, expires_at, last_used_at, revoked, created_at';

const insert = statement<KeyRow>(
  'keys.insert',
  `insert into api_keys (workspace_id, id, name, hash, scopes, agent_id, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7) returning ${columns}`,
);

export interface NewKeyValues {
  name: string;
  scopes: readonly Scope[];
  agentId: string | null;
  expiresAt: string | null;
  /** Chosen by the operator (INBOX_API_KEY); else 256 random bits. */
  key?: string | undefined;
}

/** The key itself leaves here once; only its hash is stored. */
export async function insertKey(
  tx: Tx,
  workspaceId: string,
  { name, scopes, agentId, expiresAt, key = `inbox_${randomBytes(32).toString('base64url')}` }: NewKeyValues,
): Promise<{ row: KeyRow; key: string }> {
  const [row] = await tx.query(insert, [
    workspaceId,
    newUuid(),
    name,
    hashKey(key),
    scopes,
    agentId,
    expiresAt,
  ]);
  return { row: row!, key };
}

const list = statement<KeyRow>(
  'keys.list',
  `select ${columns} from api_keys where workspace_id = $1 order by created_at desc, id desc limit $2::int offset $3::int`,
);
const count = statement<{ n: number }>(
  'keys.count',
  `select count(*) as n from api_keys where workspace_id = $1`,
);

/** Revoked ones too: the list is also the record of who could once get in. */
export function listKeys(db: Reader, workspaceId: string, page: Page): Promise<Listing<KeyRow>> {
  return listing(db, list, count, [workspaceId], page);
}

const countLive = statement<{ n: number }>(
  'keys.count_live',
  `select count(*) as n from api_keys where workspace_id = $1 and not revoked`,
);

export async function keepKeysWithinLimit(tx: Tx, workspaceId: string): Promise<void> {
  await keepWithinLimit(tx, workspaceId, 'API keys', countLive, [workspaceId]);
}

export const findKey = finding(
  statement<KeyRow>('keys.find', `select ${columns} from api_keys where workspace_id = $1 and id = $2`),
);

const update = statement<KeyRow>(
  'keys.update',
  `update api_keys set name = coalesce($3, name), expires_at = case when $4 then $5 else expires_at end
   where workspace_id = $1 and id = $2 returning ${columns}`,
);

/** A field that is undefined stays as it is. */
export async function updateKey(
  tx: Tx,
  workspaceId: string,
  id: string,
  { name, expiresAt }: { name: string | undefined; expiresAt: string | null | undefined },
): Promise<KeyRow> {
  const [row] = await tx.query(update, [workspaceId, id, name, expiresAt !== undefined, expiresAt]);
  return row!;
}

const revoke = statement<KeyRow>(
  'keys.revoke',
  `update api_keys set revoked = true where workspace_id = $1 and id = $2 returning ${columns}`,
);

export async function revokeKey(tx: Tx, workspaceId: string, id: string): Promise<KeyRow | undefined> {
  const [row] = await tx.query(revoke, [workspaceId, id]);
  return row;
}

const isToCome = statement<{ to_come: boolean }>(
  'keys.is_to_come',
  `select $1::timestamptz > clock_timestamp() as to_come`,
);

/** By the database's clock, which is the one that will end the key. */
export async function isInTheFuture(db: Reader, timestamp: string): Promise<boolean> {
  const [row] = await db.query(isToCome, [timestamp]);
  return row!.to_come;
}
