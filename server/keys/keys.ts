import { findAgent } from '../agents/queries.ts';
import type { Tx } from '../db/client.ts';
import { ApiError, invalid } from '../errors.ts';
import type { Caller } from '../http/authenticate.ts';
import { type Scope, scopes as allScopes } from '../http/scopes.ts';
import { toId } from '../ids.ts';
import { referenced } from '../references.ts';
import { unchangeable } from '../unchangeable.ts';
import {
  findKey,
  insertKey,
  isInTheFuture,
  keepKeysWithinLimit,
  type KeyRow,
  revokeKey,
  updateKey,
} from './queries.ts';
import type { ApiKey, KeyInput, KeyUpdate } from './schema.ts';

export async function createKey(tx: Tx, caller: Caller, input: KeyInput) {
  const scopes = inOrder(input.scopes ?? [...caller.scopes]);
  requireScopes(caller, scopes);
  const agentId = input.agent_id ?? null;
  const agent =
    agentId === null
      ? undefined
      : await referenced('agent_id', 'agent', agentId, (id) => findAgent(tx, caller.workspaceId, id));
  const { row, key } = await insertKey(tx, caller.workspaceId, {
    name: input.name,
    scopes,
    agentId: agent?.id ?? null,
    expiresAt: (await expiryOf(tx, input.expires_at)) ?? null,
  });
  await keepKeysWithinLimit(tx, caller.workspaceId);
  return { ...apiKeyOf(row), key };
}

export async function changeKey(
  tx: Tx,
  caller: Caller,
  id: string,
  input: KeyUpdate,
): Promise<KeyRow | undefined> {
  const before = await findKey(tx, caller.workspaceId, id);
  if (!before) return undefined;
  const shown = apiKeyOf(before);
  unchangeable('scopes', inOrder(shown.scopes), input.scopes && inOrder(input.scopes));
  unchangeable('agent_id', shown.agent_id, input.agent_id);
  unchangeable('revoked', shown.revoked, input.revoked);
  const expiresAt = input.expires_at === before.expires_at ? undefined : await expiryOf(tx, input.expires_at);
  // A longer life for a stronger key would be a way to get at what the caller itself may not do.
  if (expiresAt !== undefined) requireScopes(caller, before.scopes);
  return updateKey(tx, caller.workspaceId, id, { name: input.name, expiresAt });
}

/** A weaker key could otherwise lock out all the stronger ones. */
export async function endKey(tx: Tx, caller: Caller, id: string): Promise<KeyRow | undefined> {
  const before = await findKey(tx, caller.workspaceId, id);
  if (!before) return undefined;
  requireScopes(caller, before.scopes);
  return revokeKey(tx, caller.workspaceId, id);
}

function requireScopes(caller: Caller, scopes: Scope[]): void {
  const lacking = scopes.filter((scope) => !caller.scopes.has(scope));
  if (lacking.length === 0) return;
  const message = `This key lacks the scope${lacking.length > 1 ? 's' : ''} ${lacking.join(', ')}, which the other key has or would have`;
  throw new ApiError('forbidden', message, [{ field: 'scopes', rule: 'scope', message }]);
}

const inOrder = (scopes: readonly Scope[]): Scope[] => allScopes.filter((scope) => scopes.includes(scope));

async function expiryOf(tx: Tx, given: string | null | undefined): Promise<string | null | undefined> {
  if (given === undefined || given === null) return given;
  const time = Date.parse(given);
  // Outside these years, and for the odd spelling that only one of them reads, Node and PostgreSQL disagree.
  if (time > 0 && time < Date.UTC(10_000, 0)) {
    const timestamp = new Date(time).toISOString();
    if (await isInTheFuture(tx, timestamp)) return timestamp;
  }
  throw invalid('expires_at', 'future', 'expires_at must be a time to come, before the year 10000');
}

export function apiKeyOf(row: KeyRow): ApiKey {
  return {
    id: toId('key', row.id),
    name: row.name,
    scopes: row.scopes,
    agent_id: row.agent_id && toId('agent', row.agent_id),
    expires_at: row.expires_at,
    last_used_at: row.last_used_at,
    revoked: row.revoked,
    created_at: row.created_at,
  };
}
