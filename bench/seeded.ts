import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { call } from './api.ts';
import { atEnd, endProcess } from './clean-up.ts';
import { makeKeys } from './keys.ts';
import { openSql, type Sql } from './limits/sql.ts';
import { root, type Service, startService, withDatabase } from './service.ts';

/** A service on a database of a certain size, and what is in there to ask for. */
export interface Seeded {
  size: number;
  service: Service;
  sql: Sql;
  env: ServiceEnv;
  keys: string[];
  channelId: string;
  agentIds: string[];
  teamId: string;
  label: string;
  /** Drawn from all of them. */
  conversations: { id: string; contactId: string }[];
  /** Open ones on a channel where storing a message is sending it. */
  openConversationIds: string[];
  contacts: { email: string | null; phone: string | null }[];
  longConversation: { id: string; pages: number };
}

export type ServiceEnv = Record<string, string> & { INBOX_DATA_DIR: string };

/**
 * Each second of 8,000 requests takes 8 of them; used in turn, none comes near its 1,000 a minute. More would mean that
 * the service looks up more keys than it would for customers who use theirs fully.
 */
const keyCount = 600;
const drawnPages = 20;

export async function seed(size: number, folder: string, env: Record<string, string>): Promise<Seeded> {
  const key = `bench_${randomBytes(16).toString('hex')}`;
  const serviceEnv = { ...env, INBOX_DATA_DIR: join(folder, String(size)), INBOX_API_KEY: key };
  const service = await startService(serviceEnv);
  const v1 = `${service.origin}/v1`;
  await makeSettings(v1, key);
  const longId = await runSeed(size, serviceEnv);
  await withDatabase(service, async (client) => {
    await client.query('vacuum analyze');
    await client.query('checkpoint'); // the writing of the seed itself is not what is measured
  });
  const keys = await makeKeys(service, keyCount);
  return {
    size,
    service,
    sql: await openSql(service.databaseUrl),
    env: serviceEnv,
    keys,
    ...(await look(v1, keys, longId)),
  };
}

/** More than one of each, so that a filter on them leaves something out. */
async function makeSettings(v1: string, key: string): Promise<void> {
  for (const name of ['Shop', 'App']) await call('POST', `${v1}/channels`, key, { type: 'api', name });
  for (const name of ['Amara', 'Bruno', 'Chiara', 'Dariusz']) {
    const email = `${name.toLowerCase()}@agents.example`;
    await call('POST', `${v1}/agents`, key, { name, email, role: 'agent' });
  }
  await call('POST', `${v1}/teams`, key, { name: 'Sales' });
}

/** The service's own command, beside the running service. The id of the long conversation. */
async function runSeed(size: number, env: ServiceEnv): Promise<string> {
  const counts = { contacts: size, conversations: size, messages: 10 * size };
  const long = Math.min(100_000, size);
  const options = Object.entries({ ...counts, 'long-conversation': long }).flatMap(([name, n]) => [
    `--${name}`,
    String(n),
  ]);
  const child = spawn(process.execPath, ['server/cli.ts', 'seed', ...options, '--json'], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  atEnd(() => endProcess(child));
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`the seed ended with ${code}`);
  return (JSON.parse(output) as { long_conversation_id: string }).long_conversation_id;
}

interface List<T> {
  data: T[];
  meta: { total_pages: number };
}

/** What there is to ask for, as a client finds out. */
async function look(v1: string, keys: string[], longId: string) {
  let used = 0;
  const list = <T>(path: string) => call<List<T>>('GET', `${v1}${path}`, keys[used++ % keys.length]!);
  const drawn = async <T>(path: string): Promise<T[]> => {
    const { data, meta } = await list<T>(path);
    const pages = [data];
    for (let i = 1; i < drawnPages; i++) {
      const page = 1 + Math.floor((i * meta.total_pages) / drawnPages);
      if (page <= meta.total_pages) pages.push((await list<T>(`${path}&page=${page}`)).data);
    }
    // One of each page in turn: whoever asks for the first few has asked all over the table.
    return data.flatMap((_, place) => pages.flatMap((page) => page.slice(place, place + 1)));
  };

  const [channel] = (await list<{ id: string }>('/channels?per_page=100')).data.toReversed();
  const agents = (await list<{ id: string }>('/agents?per_page=100')).data;
  const [team] = (await list<{ id: string }>('/teams')).data;
  const [label] = (await list<{ name: string }>('/labels')).data.toReversed();
  type Row = { id: string; contact: { id: string } };
  const conversations = await drawn<Row>('/conversations?per_page=100');
  const open = await drawn<Row>(`/conversations?per_page=100&status=open&channel_id=${channel!.id}`);
  const contacts = await drawn<{ email: string | null; phone: string | null }>('/contacts?per_page=100');
  const long = await list(`/conversations/${longId}/messages`);
  return {
    channelId: channel!.id,
    agentIds: agents.map(({ id }) => id),
    teamId: team!.id,
    label: label!.name,
    conversations: unique(conversations).map(({ id, contact }) => ({ id, contactId: contact.id })),
    openConversationIds: unique(open)
      .map(({ id }) => id)
      .filter((id) => id !== longId),
    contacts,
    longConversation: { id: longId, pages: long.meta.total_pages },
  };
}

const unique = <T extends { id: string }>(rows: T[]): T[] => [
  ...new Map(rows.map((row) => [row.id, row])).values(),
];
