import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import pg from 'pg';
import { pino } from 'pino';
import { createApp } from '../server/app.ts';
import { type Config, readConfig } from '../server/config.ts';
import type { Context } from '../server/context.ts';
import { openDb } from '../server/db/client.ts';
import { createEgress, type EgressOptions } from '../server/egress/guard.ts';
import type { Plan } from '../server/http/authenticate.ts';
import { type Scope, scopes as allScopes } from '../server/http/scopes.ts';
import { toId } from '../server/ids.ts';
import { insertKey } from '../server/keys/queries.ts';
import { createMetrics } from '../server/metrics.ts';
import { createVault } from '../server/vault.ts';
import { insertWorkspace } from '../server/workspaces/queries.ts';

/** Set by test/run.ts: a PostgreSQL for this run, and a migrated database to copy from. */
const adminUrl = required('INBOX_TEST_ADMIN_URL');
const templateDatabase = required('INBOX_TEST_TEMPLATE');
export const testSecretKey = 'a secret key for tests, 32 characters or more';

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run tests with npm test [-- file ...]`);
  return value;
}

/** What a file started is ended in reverse order, once all its tests are done: connections before their database. */
const endings: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const end of endings.toReversed()) await end();
});

export function atEnd(end: () => Promise<unknown>): void {
  endings.push(end);
}

/** A database of its own, copied from the migrated template, dropped at the end of the file. */
export async function createDatabase({ empty = false } = {}): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await admin(`create database ${name} ${empty ? '' : `template ${templateDatabase} strategy wal_log`}`);
  atEnd(() => admin(`drop database if exists ${name} with (force)`));
  return databaseUrl(name);
}

export function databaseUrl(name: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.toString();
}

async function admin(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

export interface Answer {
  status: number;
  headers: Headers;
  // Tests look into answers freely; the promises under test are about their content.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
  text: string;
}

export interface RequestOptions {
  key?: string | undefined;
  headers?: Record<string, string>;
  /** Sent as it is, instead of a JSON body. */
  raw?: string | Uint8Array<ArrayBuffer>;
}

export interface Client {
  (method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Answer>;
}

export interface Workspace {
  id: string;
  uuid: string;
  key: string;
  keyId: string;
  request: Client;
  makeKey(options?: { scopes?: Scope[]; agentId?: string; expiresAt?: string }): Promise<string>;
}

export interface Service {
  ctx: Context;
  origin: string;
  baseUrl: string;
  databaseUrl: string;
  request: Client;
  /** Straight SQL, to look at what the interface does not show. */
  sql<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  workspace(options?: { plan?: Plan; name?: string }): Promise<Workspace>;
  close(): Promise<void>;
}

export interface ServiceOptions {
  env?: Record<string, string>;
  /** Another process's database, to stand beside it. */
  url?: string;
  /** A free one, unless it takes the place of another. */
  port?: number;
  /** Whom outgoing connections trust, and how names resolve. */
  egress?: EgressOptions;
}

/** The real server on a free port, on a database of its own. */
export async function startService({
  env = {},
  url,
  egress,
  port = 0,
}: ServiceOptions = {}): Promise<Service> {
  const databaseUrl = url ?? (await createDatabase());
  const config: Config = readConfig({
    DATABASE_URL: databaseUrl,
    INBOX_SECRET_KEY: testSecretKey,
    INBOX_LOG_LEVEL: process.env['INBOX_LOG_LEVEL'] ?? 'fatal',
    ...env,
  });
  const log = pino({ level: config.logLevel }, pino.destination(2));
  const db = openDb({ url: databaseUrl, poolSize: 8 });
  const ctx: Context = {
    config,
    db,
    vault: createVault(testSecretKey),
    egress: createEgress(config, egress),
    metrics: createMetrics(),
    log,
  };
  const app = await createApp(ctx);
  const origin = await app.listen({ host: '127.0.0.1', port });
  const baseUrl = `${origin}/v1`;
  const request = clientFor(baseUrl);

  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await app.close();
    await db.close();
  };
  atEnd(close);

  return {
    ctx,
    origin,
    baseUrl,
    databaseUrl,
    request,
    close,
    sql: (text, values = []) => db.alone.queryText(text, values),
    workspace: (options) => createWorkspace(ctx, baseUrl, options),
  };
}

async function createWorkspace(
  ctx: Context,
  baseUrl: string,
  { plan = 'business', name = 'Test' }: { plan?: Plan; name?: string } = {},
): Promise<Workspace> {
  const makeKey = (uuid: string, scopes: readonly Scope[], agentId?: string, expiresAt?: string) =>
    ctx.db.transaction((tx) =>
      insertKey(tx, uuid, {
        name: 'Test key',
        scopes,
        agentId: agentId ?? null,
        expiresAt: expiresAt ?? null,
      }),
    );
  const workspace = await ctx.db.transaction((tx) => insertWorkspace(tx, name, plan));
  const { key, row } = await makeKey(workspace.id, allScopes);
  return {
    id: toId('workspace', workspace.id),
    uuid: workspace.id,
    key,
    keyId: toId('key', row.id),
    request: clientFor(baseUrl, key),
    makeKey: async ({ scopes = [...allScopes], agentId, expiresAt } = {}) =>
      (await makeKey(workspace.id, scopes, agentId, expiresAt)).key,
  };
}

export function clientFor(baseUrl: string, defaultKey?: string): Client {
  return async (method, path, body, { key = defaultKey, headers = {}, raw } = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { body: payload }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : undefined,
      text,
    };
  };
}
