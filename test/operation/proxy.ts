import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { atEnd } from '../harness.ts';

/** A database whose network can fail: a TCP port before the real one. */
export interface FailingDatabase {
  url: string;
  /** As if the server was stopped: connections end, new ones are refused. */
  stop(): Promise<void>;
  /** As if packets were dropped: connections stay open and nothing arrives. */
  freeze(): void;
  resume(): Promise<void>;
}

export async function failing(databaseUrl: string): Promise<FailingDatabase> {
  const { host, port, database, user, password } = new pg.Client({ connectionString: databaseUrl });
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  const open = new Set<Socket>();
  let frozen = false;

  const server = createServer((client) => {
    const upstream = connect(target);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on('data', (chunk) => {
        if (!frozen) to.write(chunk);
      });
      from.on('error', () => {});
      from.on('close', () => {
        open.delete(from);
        if (!frozen) to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: ownPort } = server.address() as AddressInfo;

  const endAll = () => {
    for (const socket of open) socket.destroy();
  };
  const stop = async () => {
    if (!server.listening) return endAll();
    const closed = once(server, 'close');
    server.close();
    endAll();
    await closed;
  };
  atEnd(stop);

  const login = password ? `${user}:${encodeURIComponent(password)}` : user;
  return {
    url: `postgresql://${login}@127.0.0.1:${ownPort}/${database}?sslmode=disable`,
    stop,
    freeze() {
      frozen = true;
    },
    async resume() {
      frozen = false;
      endAll();
      if (server.listening) return;
      server.listen(ownPort, '127.0.0.1');
      await once(server, 'listening');
    },
  };
}
