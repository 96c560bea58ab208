import { insertAgent } from './agents/queries.ts';
import { insertChannel } from './channels/queries.ts';
import type { Context } from './context.ts';
import { statement } from './db/client.ts';
import { hashKey } from './http/authenticate.ts';
import { scopes } from './http/scopes.ts';
import { insertKey } from './keys/queries.ts';
import { insertTeam } from './teams/queries.ts';
import { insertTemplate } from './templates/queries.ts';
import { findOldestWorkspace, insertWorkspace } from './workspaces/queries.ts';

export interface FirstStart {
  key: string;
  channelId: string;
}

const lockBootstrap = statement<{ locked: unknown }>(
  'bootstrap.lock',
  `select pg_advisory_xact_lock(4716230012) as locked`,
);

/** On an empty database: a workspace to try things in, and a key that opens it. undefined: it was not empty. */
export async function bootstrap({
  db,
  config,
}: Pick<Context, 'db' | 'config'>): Promise<FirstStart | undefined> {
  return db.transaction(async (tx) => {
    await tx.query(lockBootstrap, []);
    if (await findOldestWorkspace(tx)) return undefined;
    const { id } = await insertWorkspace(tx, 'Demo', 'business');
    const channel = await insertChannel(tx, id, {
      type: 'api',
      name: 'API',
      after_resolved: 'reopen',
      settings: {},
      sealed_settings: null,
    });
    await insertAgent(tx, id, { name: 'Ada Lovelace', email: 'ada@example.com', role: 'admin' });
    await insertAgent(tx, id, { name: 'Grace Hopper', email: 'grace@example.com', role: 'agent' });
    await insertTeam(tx, id, { name: 'Support' });
    await insertTemplate(tx, id, {
      name: 'Order update',
      language: 'en',
      body: 'Hello {{name}}, your order {{order}} is on its way.',
      status: 'approved',
      channel_id: null,
    });
    const { key } = await insertKey(tx, id, {
      name: 'First key',
      scopes,
      agentId: null,
      expiresAt: null,
      key: config.apiKey,
    });
    return { key, channelId: channel.id };
  });
}

const findHash = statement<{ id: string }>('bootstrap.find_hash', `select id from api_keys where hash = $1`);

/** INBOX_API_KEY set later, or changed: it opens the first workspace too. A key that was revoked stays revoked. */
export async function ensureConfiguredKey({ db, config }: Pick<Context, 'db' | 'config'>): Promise<void> {
  const { apiKey } = config;
  if (apiKey === undefined) return;
  await db.transaction(async (tx) => {
    await tx.query(lockBootstrap, []);
    const workspace = await findOldestWorkspace(tx);
    const [known] = await tx.query(findHash, [hashKey(apiKey)]);
    if (!workspace || known) return;
    await insertKey(tx, workspace.id, {
      name: 'INBOX_API_KEY',
      scopes,
      agentId: null,
      expiresAt: null,
      key: apiKey,
    });
  });
}
