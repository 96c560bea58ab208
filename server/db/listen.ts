import pg from 'pg';

const reconnectMs = 1_000;

/**
 * Calls back on every NOTIFY of the channel, over a connection of its own that comes back by itself; without a payload
 * when it has (come back and) begun to listen, for whatever was said while nobody did. Returns how to stop.
 */
export function listen(
  config: pg.ClientConfig,
  channel: string,
  onNotice: (payload?: string) => void,
): () => Promise<void> {
  let stopped = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function connect() {
    // Not pipelined and with no deadline on queries: it only waits.
    const next = new pg.Client({ ...config, pipeline: false, query_timeout: 0 });
    client = next;
    next.on('notification', ({ payload }) => onNotice(payload));
    next.on('error', () => {});
    next.on('end', again);
    try {
      await next.connect();
      await next.query(`listen ${channel}`);
      onNotice();
    } catch {
      await next.end().catch(() => {});
      again();
    }
  }

  function again() {
    if (!stopped) timer ??= setTimeout(() => ((timer = undefined), void connect()), reconnectMs);
  }

  void connect();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await client?.end().catch(() => {});
  };
}
