import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { listen } from './listen.ts';

/** A named, prepared statement. Every one is listed, so that a test can prepare them all on the real schema. */
export interface Statement<Row> {
  name: string;
  text: string;
  /** Never set: carries the row type. */
  row?: Row;
}

export const statements: Statement<unknown>[] = [];

export function statement<Row = never>(name: string, text: string): Statement<Row> {
  const made = { name, text };
  statements.push(made);
  return made;
}

/** Something that answers queries: the database or a transaction. Query functions take it first. */
export interface Reader {
  query<Row>(statement: Statement<Row>, values: unknown[]): Promise<Row[]>;
}

declare const insideTransaction: unique symbol;

/** A running transaction. Writes ask for this type, so nothing can be written outside one. */
export interface Tx extends Reader {
  readonly [insideTransaction]: true;
  /** Sends a write whose rows nobody reads. Its error, if any, surfaces at commit: one round trip less. */
  send(statement: Statement<never>, values: unknown[]): void;
  /** Once this transaction has committed, those who subscribed to the topic are called: there is work for them. */
  announce(topic: string): void;
  /** For the few statements whose text depends on the request. */
  queryText<Row>(text: string, values: unknown[]): Promise<Row[]>;
}

export interface Db extends Reader {
  /** Short index reads share a pipelined connection; what may take long gets one of its own here. */
  readonly alone: Reader & { queryText<Row>(text: string, values: unknown[]): Promise<Row[]> };
  /** A pipelined connection for small writes that come all the time, commit by themselves and may be made twice. */
  readonly apart: Reader;
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Calls back after each commit in this process that announced the topic. Returns how to stop. */
  subscribe(topic: string, listener: () => void): () => void;
  /** Calls back on each NOTIFY of the channel, and without a payload when it begins to listen (again). Returns how to stop. */
  listen(channel: string, onNotice: (payload?: string) => void): () => Promise<void>;
  close(): Promise<void>;
}

export interface DbOptions {
  url: string;
  /** Connections for transactions; a third as many more for what may take long. */
  poolSize?: number;
  onError?: (error: Error) => void;
}

const pipelinedReaders = 2;
const deadlineMs = 5_000;
/** A lost connection shows at once. Whoever has waited longer for an answer does not wait as long again. */
const askAgainWithinMs = 1_000;

/**
 * Prepared statements keep one plan, the one that test/plans.test.ts looks at. Left to itself PostgreSQL planned each
 * claim of deliveries anew once a million waited in another lane: half as much processor again for all deliveries. And
 * it is kept until the table is analysed again, so no table is read whole because it was empty just then. (Up to 17
 * PostgreSQL takes a statement that must read one whole for so dear that it would compile it each time: no jit.)
 */
export const planSettings = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off';

/** What may take long is planned for its values, and has a pool of its own: searches cannot hold up writes. */
export function openDb({ url, poolSize = 10, onError = () => {} }: DbOptions): Db {
  const config: pg.ClientConfig = {
    connectionString: url,
    application_name: 'inbox',
    pipeline: true,
    connectionTimeoutMillis: deadlineMs,
    query_timeout: deadlineMs,
    statement_timeout: deadlineMs - 500,
    lock_timeout: deadlineMs - 1_000,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    options: '-c timezone=UTC -c datestyle=ISO -c client_min_messages=warning',
    types: { getTypeParser: typeParser },
  };
  const planned = { ...config, options: `${config.options} ${planSettings}` };
  const sessions = new Set<pg.PoolClient>();
  const pooled = (ofConfig: pg.ClientConfig, max: number): pg.Pool => {
    const pool = new pg.Pool({ ...ofConfig, max, idleTimeoutMillis: 30_000 });
    pool.on('error', onError);
    pool.on('connect', (client) => {
      sessions.add(client);
      // The pool listens only while a session is idle: one that breaks just as it is handed out would end the process.
      client.on('error', () => {});
      client.once('end', () => sessions.delete(client));
    });
    return pool;
  };

  const transactions = pooled(planned, poolSize);
  const long = pooled(config, Math.ceil(poolSize / 3));
  const readers = Array.from({ length: pipelinedReaders }, () => pipelined(planned, onError));
  const apart = pipelined(planned, onError);
  const listeners = new Map<string, Set<() => void>>();
  let turn = 0;
  let closed = false;

  return {
    query(statement, values) {
      turn = (turn + 1) % readers.length;
      return readers[turn]!.query(statement, values);
    },
    alone: {
      query: async (statement, values) => rowsOf(await long.query(prepared(statement, values))),
      queryText: async (text, values) => rowsOf(await long.query({ text, values })),
    },
    apart,
    async transaction(work) {
      const topics = new Set<string>();
      const result = await retryDeadlocks(() => runTransaction(transactions, work, topics));
      for (const topic of topics) for (const listener of listeners.get(topic) ?? []) listener();
      return result;
    },
    subscribe(topic, listener) {
      const ofTopic = listeners.get(topic) ?? new Set();
      listeners.set(topic, ofTopic.add(listener));
      return () => ofTopic.delete(listener);
    },
    listen: (channel, onNotice) => listen(config, channel, onNotice),
    async close() {
      if (closed) return;
      closed = true;
      await Promise.all([
        transactions.end(),
        long.end(),
        apart.close(),
        ...readers.map((reader) => reader.close()),
      ]);
      // A pool says it has ended before its sessions have. Whoever stops the database next must not see them.
      const ended = Promise.all(
        [...sessions].map((session) => new Promise((gone) => session.once('end', gone))),
      );
      await Promise.race([ended, sleep(1_000, undefined, { ref: false })]);
    },
  };
}

async function runTransaction<T>(
  pool: pg.Pool,
  work: (tx: Tx) => Promise<T>,
  topics: Set<string>,
): Promise<T> {
  const client = await pool.connect();
  const sent: Promise<unknown>[] = [];
  // A broken connection already fails the query under way; without a listener it would end the process.
  const ignore = () => {};
  client.on('error', ignore);
  const release = (error?: Error) => {
    client.off('error', ignore);
    client.release(error);
  };
  const tx = {
    query: async <Row>(statement: Statement<Row>, values: unknown[]): Promise<Row[]> =>
      rowsOf(await together(client).query(prepared(statement, values))),
    queryText: async <Row>(text: string, values: unknown[]): Promise<Row[]> =>
      rowsOf(await together(client).query({ text, values })),
    send(statement: Statement<never>, values: unknown[]) {
      const done = together(client).query(prepared(statement, values));
      done.catch(ignore); // looked at before the commit's own answer is believed
      sent.push(done);
    },
    announce: (topic: string) => void topics.add(topic),
  } as Tx;

  const begun = together(client).query('begin');
  begun.catch(ignore);
  try {
    const result = await work(tx);
    await begun;
    // Sent together with the last writes. After a failed write PostgreSQL answers this with a rollback.
    const committed = together(client).query('commit');
    committed.catch(ignore);
    await Promise.all(sent);
    if ((await committed).command !== 'COMMIT') throw new Error('the transaction was rolled back');
    release();
    return result;
  } catch (error) {
    // A connection that gave no answer is not asked once more: it is closed, which is a rollback too.
    if (isConnectionLoss(error)) release(error as Error);
    else
      await client.query('rollback').then(
        () => release(),
        (lost: Error) => release(lost),
      );
    throw error;
  }
}

/**
 * What is asked for in one turn goes out in one write. Each write wakes PostgreSQL's process, which on a busy machine
 * takes the processor from this one: a claim of deliveries was four writes, and they were a fifth of the worker's time.
 */
function together<Client extends pg.ClientBase>(client: Client): Client {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  if (stream.writableCorked === 0) {
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
  return client;
}

/** Two requests that took the same rows in opposite order: PostgreSQL ends one, and it may simply run again. */
async function retryDeadlocks<T>(run: () => Promise<T>, attempts = 3): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt === attempts || !['40P01', '40001'].includes((error as { code?: string }).code ?? ''))
        throw error;
    }
  }
}

/** One connection that carries many statements at once. It comes back by itself, and what it lost is asked again. */
function pipelined(config: pg.ClientConfig, onError: (error: Error) => void) {
  let current: Promise<pg.Client> | undefined;

  function connection(): Promise<pg.Client> {
    if (current) return current;
    const client = new pg.Client(config);
    const opened = client.connect().then(() => client);
    const forget = () => {
      if (current === opened) current = undefined;
    };
    client.on('error', (error) => {
      forget();
      onError(error);
    });
    client.on('end', forget);
    opened.catch(forget);
    current = opened;
    return opened;
  }

  return {
    async query<Row>(statement: Statement<Row>, values: unknown[]): Promise<Row[]> {
      const begun = performance.now();
      const client = await connection();
      try {
        return rowsOf(await together(client).query(prepared(statement, values)));
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
        if (current && (await current.catch(() => undefined)) === client) current = undefined;
        void client.end().catch(() => {}); // after a timeout it is still open, and its other reads wait for nothing
        if (performance.now() - begun > askAgainWithinMs) throw error;
        return rowsOf(await together(await connection()).query(prepared(statement, values)));
      }
    },
    async close() {
      const client = await current?.catch(() => undefined);
      current = undefined;
      await client?.end();
    },
  };
}

/** No answer from the server itself, or the answer that it is ending this session. */
export function isConnectionLoss(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  if (typeof code !== 'string')
    return error instanceof Error && /connection|timeout|terminated|closed/i.test(error.message);
  return code.startsWith('08') || code.startsWith('57P') || /^E[A-Z]+$/.test(code);
}

const prepared = <Row>(statement: Statement<Row>, values: unknown[]): pg.QueryConfig => ({
  name: statement.name,
  text: statement.text,
  values,
});

const rowsOf = <Row>(result: pg.QueryResult): Row[] => result.rows as Row[];

const timestamptz = 1184;
const int8 = 20;
const textArray: number = 1009;
const uuidArray = 2951;

/** Timestamps stay text (parsing to Date and printing again is waste); counts are far below 2^53. */
function typeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === timestamptz) return isoTimestamp;
  if (oid === int8) return Number;
  if (oid === textArray || oid === uuidArray) return stringArray;
  return pg.types.getTypeParser(oid, format);
}

const parseStringArray = pg.types.getTypeParser(textArray) as (text: string) => string[];

/** Most lists are empty, as the labels of most conversations: 3 % of the service's time went into finding that out. */
const stringArray = (text: string): string[] => (text === '{}' ? [] : parseStringArray(text));

/** PostgreSQL's `2026-11-15 09:30:00.1+00` as `2026-11-15T09:30:00.100Z`. */
export function isoTimestamp(text: string): string {
  const fraction = text[19] === '.' ? text.slice(20, text.indexOf('+', 20)) : '';
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
}
