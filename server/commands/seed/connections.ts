import { availableParallelism } from 'node:os';
import { finished } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

/** Connections of its own: a batch may take longer than the service allows a request. */
export async function withConnections<T>(
  url: string,
  work: (connections: pg.Client[]) => Promise<T>,
): Promise<T> {
  const connections = Array.from({ length: Math.min(availableParallelism(), 4) }, () => connectionTo(url));
  try {
    await Promise.all(connections.map((connection) => connection.connect()));
    return await work(connections);
  } finally {
    await Promise.all(connections.map((connection) => connection.end().catch(() => {})));
  }
}

function connectionTo(url: string): pg.Client {
  const connection = new pg.Client({
    connectionString: url,
    application_name: 'inbox seed',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    options: '-c client_min_messages=warning',
  });
  connection.on('error', () => {}); // the query under way fails with it
  return connection;
}

/** Writes some rows and says how many. */
export type Batch = (connection: pg.Client) => Promise<number>;

/** Every batch in a transaction of its own, as many at once as there are connections. None begins after a signal. */
export async function runBatches(
  connections: pg.Client[],
  batches: Iterable<Batch>,
  { signal, onRows }: { signal: AbortSignal; onRows: (rows: number) => void },
): Promise<void> {
  const waiting = batches[Symbol.iterator]();
  let failed = false;
  const outcomes = await Promise.allSettled(
    connections.map(async (connection) => {
      while (!signal.aborted && !failed) {
        const next = waiting.next();
        if (next.done) return;
        try {
          onRows(await inTransaction(connection, next.value));
        } catch (error) {
          failed = true;
          throw error;
        }
      }
    }),
  );
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure) throw failure.reason;
}

async function inTransaction(connection: pg.Client, batch: Batch): Promise<number> {
  await connection.query('begin');
  try {
    const rows = await batch(connection);
    await connection.query('commit');
    return rows;
  } catch (error) {
    await connection.query('rollback').catch(() => {});
    throw error;
  }
}

/**
 * COPY, measured against INSERT … SELECT of unnested arrays: a fifth less work for server and client together. Rows
 * made by the server itself cost as much there as making and sending them costs here, where the other core does it.
 */
export async function copyInto(connection: pg.Client, columns: string, lines: string[]): Promise<void> {
  if (lines.length === 0) return;
  const stream = connection.query(copyFrom(`copy ${columns} from stdin`));
  stream.end(lines.join(''));
  await finished(stream);
}
