import type { Command } from 'commander';
import { findAgent } from '../agents/queries.ts';
import type { Tx } from '../db/client.ts';
import { type Scope, scopes as allScopes } from '../http/scopes.ts';
import { apiKeyOf } from '../keys/keys.ts';
import { insertKey, keepKeysWithinLimit, listKeys, revokeKey } from '../keys/queries.ts';
import type { ApiKey } from '../keys/schema.ts';
import { addCommand } from './command.ts';
import { type Expiry, expiryAt, expiryValue } from './expiry.ts';
import { chosenWorkspace, findWorkspaceIdOfKey, found } from './lookup.ts';
import { lines, print, table } from './output.ts';
import { withSession } from './session.ts';
import { listValue, nameValue } from './usage.ts';

interface CreateOptions {
  workspace?: string;
  name: string;
  scopes?: Scope[];
  agent?: string;
  expires?: Expiry;
  json?: boolean;
}

const workspaceOption = ['--workspace <id>', 'whose keys; not needed while there is one workspace'] as const;
const mostListed = 10_000;

export function addKey(program: Command): void {
  const group = program.command('key').description('create, list and revoke API keys');

  addCommand(group, {
    name: 'create',
    summary: 'create an API key and show it, once',
    about: `Scopes: ${allScopes.join(', ')}.`,
    example: 'key create --name "Web shop" --scopes contacts:read,contacts:write --expires 90d',
  })
    .option(...workspaceOption)
    .requiredOption('--name <name>', 'what the key is for', nameValue)
    .option('--scopes <a,b>', 'what it may do (default: everything)', listValue(allScopes))
    .option('--agent <id>', 'the agent it stands for (default: none, it speaks as a bot)')
    .option('--expires <when>', 'a duration (30d, 12h) or a timestamp (default: never)', expiryValue)
    .action((options: CreateOptions) =>
      withSession(async ({ db }) => {
        const { id: workspaceId } = await chosenWorkspace(db, options.workspace);
        const made = await db.transaction((tx) => createKey(tx, workspaceId, options));
        process.stderr.write('This is the only time the key is shown.\n');
        print(options.json, made, lines({ key: made.key, ...described(made) }));
      }),
    );

  addCommand(group, {
    name: 'list',
    summary: 'list API keys, newest first, revoked ones too',
    example: 'key list',
  })
    .option(...workspaceOption)
    .action(({ workspace, json }: { workspace?: string; json?: boolean }) =>
      withSession(async ({ db }) => {
        const { id } = await chosenWorkspace(db, workspace);
        const { rows, total } = await listKeys(db, id, { page: 1, perPage: mostListed, offset: 0 });
        const data = rows.map(apiKeyOf);
        if (total > data.length)
          process.stderr.write(`Only the newest ${data.length} of ${total} are shown.\n`);
        print(json, { data }, keyTable(data));
      }),
    );

  addCommand(group, {
    name: 'revoke',
    summary: 'end an API key for good',
    about: 'It stops working within five seconds, in every process, and stays listed.',
    example: 'key revoke --id key_01kcq2…',
  })
    .requiredOption('--id <id>', 'the key (see key list)')
    .option('--workspace <id>', 'refuse a key of any other workspace')
    .action(({ id, workspace, json }: { id: string; workspace?: string; json?: boolean }) =>
      withSession(async ({ db }) => {
        const only = workspace === undefined ? undefined : await chosenWorkspace(db, workspace);
        const row = await found('key', id, async (uuid) => {
          const workspaceId = only?.id ?? (await findWorkspaceIdOfKey(db, uuid));
          return workspaceId === undefined
            ? undefined
            : db.transaction((tx) => revokeKey(tx, workspaceId, uuid));
        });
        const key = apiKeyOf(row);
        print(json, key, `Revoked ${key.id} (${key.name}). It stops working within five seconds.`);
      }),
    );
}

async function createKey(
  tx: Tx,
  workspaceId: string,
  options: CreateOptions,
): Promise<ApiKey & { key: string }> {
  const { name, scopes = allScopes, agent: agentId, expires } = options;
  const agent =
    agentId === undefined
      ? undefined
      : await found('agent', agentId, (uuid) => findAgent(tx, workspaceId, uuid));
  if (agent?.archived) throw new Error(`The agent ${agentId} is archived`);
  const { row, key } = await insertKey(tx, workspaceId, {
    name,
    scopes,
    agentId: agent?.id ?? null,
    expiresAt: expires ? await expiryAt(tx, expires) : null,
  });
  await keepKeysWithinLimit(tx, workspaceId);
  return { ...apiKeyOf(row), key };
}

function described({ id, name, scopes, agent_id, expires_at }: ApiKey) {
  return { id, name, scopes: scopesText(scopes), agent: agent_id, expires: expires_at ?? 'never' };
}

function keyTable(keys: ApiKey[]): string {
  const rows = keys.map((key) => [
    key.id,
    key.name,
    stateOf(key),
    key.expires_at ?? 'never',
    key.last_used_at ?? 'never',
    key.agent_id ?? '-',
    scopesText(key.scopes),
  ]);
  return table([['ID', 'NAME', 'STATE', 'EXPIRES', 'LAST USED', 'AGENT', 'SCOPES'], ...rows]);
}

function stateOf({ revoked, expires_at }: ApiKey): string {
  if (revoked) return 'revoked';
  return expires_at !== null && Date.parse(expires_at) <= Date.now() ? 'expired' : 'active';
}

const scopesText = (scopes: Scope[]): string =>
  scopes.length === allScopes.length ? 'all' : scopes.join(',');
