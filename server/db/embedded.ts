// The PostgreSQL that Inbox brings along: started when no DATABASE_URL is set, shared by all Inbox processes
// of one data directory, and stopped by the last of them.
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { findBinaries } from './embedded-binaries.ts';
import { withLock } from './embedded-lock.ts';
import { codeOf, createPrivate, exists, findPlace, messageOf, prepareDataDir } from './embedded-place.ts';
import type { Server } from './embedded-server.ts';
import {
  createCluster,
  findPostmaster,
  launch,
  patience,
  stopPostmaster,
  trimLog,
} from './embedded-server.ts';
import { PORT } from './embedded-settings.ts';

declare module 'pg' {
  interface Client {
    ref(): void;
    unref(): void;
  }
}

export interface EmbeddedPostgres {
  /** For pg and psql alike. */
  url: string;
  /** It was already running for this data directory. */
  adopted: boolean;
  /** Where the cluster really lives. */
  dataDir: string;
  /** Stops the server unless someone else still has a session. Close your own pool first. */
  stop(): Promise<void>;
}

interface Session {
  client: Client;
  socketDir: string;
  adopted: boolean;
}

const TEND_EVERY_MS = 5000;

export async function startEmbeddedPostgres(options: {
  dataDir: string;
  log?: (line: string) => void;
}): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => {});
  const dataDir = await prepareDataDir(options.dataDir);
  const lock = join(dataDir, 'postgres.lock');

  // One session stays open for as long as this process lives: it is how the others see that the server is
  // still needed, and how this process notices that the server went away.
  const stopping = new AbortController();
  let reviving: Promise<void> | undefined;
  const { server, first } = await withLock(lock, log, async () => {
    const server = await prepareServer(dataDir, log);
    return { server, first: await connectOrStart(server) };
  });
  let { client } = first;
  watch();

  function watch(): void {
    client.unref();
    client.once('end', () => {
      if (!stopping.signal.aborted) reviving = revive();
    });
  }

  async function revive(): Promise<void> {
    log('lost PostgreSQL, bringing it back');
    for (;;) {
      if (stopping.signal.aborted) return;
      try {
        ({ client } = await withLock(lock, log, () => connectOrStart(server)));
        watch();
        log('PostgreSQL is back');
        return;
      } catch (error) {
        log(`${messageOf(error)}; trying again`);
        await sleep(1000, undefined, { ref: false, signal: stopping.signal }).catch(() => {});
      }
    }
  }

  const tending = setInterval(() => void tend(server), TEND_EVERY_MS).unref();

  async function stop(): Promise<void> {
    stopping.abort();
    clearInterval(tending);
    await reviving;
    client.ref();
    if (!(await exists(dataDir))) return client.end(); // a server without its files ends by itself
    // Deciding under the lock: of two that stop together the second no longer sees the first, and nobody
    // can adopt a server that is about to go.
    await withLock(lock, log, async () => {
      const needed = (await otherSessions(client, server)) > 0;
      await client.end().catch(() => {});
      if (!needed) await stopPostmaster(server);
    });
  }

  let stopped: Promise<void> | undefined;
  return {
    url: `postgresql://inbox@/inbox?host=${encodeURIComponent(first.socketDir)}&port=${PORT}&sslmode=disable`,
    adopted: first.adopted,
    dataDir: server.cluster,
    stop: () => (stopped ??= stop()),
  };
}

async function prepareServer(dataDir: string, log: (line: string) => void): Promise<Server> {
  const place = await findPlace(dataDir, log);
  const { bin, major } = await findBinaries(dataDir, place.user);
  const server: Server = { ...place, bin, major, logFile: join(dataDir, 'postgres.log'), log };
  if (place.forgotten) {
    await stopPostmaster(server);
    const aside = `${place.cluster}.${new Date().toISOString().replaceAll(':', '')}`;
    await rename(place.cluster, aside);
    log(`${dataDir} is new: the database of an earlier directory of that name was set aside as ${aside}`);
  }
  await createPrivate(server.logFile);
  await createCluster(server);
  return server;
}

/** A session on the running server of this cluster, which is started if there is none. Needs the lock. */
async function connectOrStart(server: Server): Promise<Session> {
  let adopted = true;
  let refusedSince: number | undefined;
  const wait = patience(server.log, 'PostgreSQL is not ready yet (after a crash it first recovers)');
  for (;;) {
    const postmaster = await findPostmaster(server.cluster);
    if (postmaster === undefined) {
      adopted = false;
      await launch(server);
      continue;
    }
    if (postmaster.status === 'stopping') {
      await stopPostmaster(server);
      continue;
    }
    if (postmaster.status === 'ready') {
      try {
        const client = await connect(postmaster.socketDir);
        return { client, socketDir: postmaster.socketDir, adopted };
      } catch (error) {
        const code = String(codeOf(error));
        if (code === 'ENOENT' || code === 'ECONNREFUSED') {
          // Someone removed the socket of a running server; without it nobody can reach that server again.
          refusedSince ??= Date.now();
          if (Date.now() - refusedSince > 1000) await stopPostmaster(server);
        } else if (error instanceof DatabaseError && !/^(57P|53300)/.test(code)) {
          throw new Error(`cannot connect to PostgreSQL in ${server.cluster}: ${error.message}`, {
            cause: error,
          });
        } // else it is starting, stopping, full, or died under our hands
      }
    }
    await wait(20);
  }
}

async function tend(server: Server): Promise<void> {
  try {
    await trimLog(server.logFile);
    // Told to stop by SIGTERM it would wait for the last session to end, ours, and meanwhile refuse new ones.
    const postmaster = await findPostmaster(server.cluster);
    if (postmaster?.status === 'stopping') await stopPostmaster(server);
  } catch (error) {
    server.log(messageOf(error));
  }
}

async function connect(socketDir: string): Promise<Client> {
  try {
    return await open(socketDir, 'inbox');
  } catch (error) {
    if (codeOf(error) !== '3D000') throw error;
    const admin = await open(socketDir, 'postgres');
    try {
      await admin.query('CREATE DATABASE inbox');
    } finally {
      await admin.end();
    }
    return open(socketDir, 'inbox');
  }
}

async function open(host: string, database: string): Promise<Client> {
  const client = new Client({
    host,
    port: PORT,
    user: 'inbox',
    database,
    ssl: false,
    application_name: 'inbox embedded',
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => {}); // 'end' follows, which is acted on
  await client.connect();
  return client;
}

async function otherSessions(client: Client, server: Server): Promise<number> {
  try {
    return await countOthers(client);
  } catch {
    // Our session was lost just now. A server that takes no new one either is of no use to anyone.
    const postmaster = await findPostmaster(server.cluster);
    if (postmaster === undefined) return 0;
    try {
      const fresh = await open(postmaster.socketDir, 'inbox');
      const others = await countOthers(fresh);
      await fresh.end();
      return others;
    } catch {
      return 0;
    }
  }
}

async function countOthers(client: Client): Promise<number> {
  const { rows } = await client.query<{ others: number }>(
    `SELECT count(*)::int AS others FROM pg_stat_activity
     WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  );
  return rows[0]?.others ?? 0;
}
