interface Waiting<Key, Row> {
  key: Key;
  resolve: (row: Row | undefined) => void;
  reject: (error: unknown) => void;
}

/** As many as there are connections for short reads. */
const mostUnderWay = 2;

/**
 * Look-ups that come in one turn, or while others are under way, share the next statement: the busier the service, the
 * less each costs. Nobody is given a row that was read before they asked.
 */
export function gather<Key, Row>(
  look: (keys: Key[]) => Promise<(Row | undefined)[]>,
): (key: Key) => Promise<Row | undefined> {
  let waiting: Waiting<Key, Row>[] = [];
  let underWay = 0;

  async function next(): Promise<void> {
    if (waiting.length === 0 || underWay === mostUnderWay) return;
    const batch = waiting;
    waiting = [];
    underWay++;
    try {
      const rows = await look(batch.map(({ key }) => key));
      batch.forEach(({ resolve }, i) => resolve(rows[i]));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    underWay--;
    void next();
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      if (waiting.length === 1) setImmediate(() => void next());
    });
}
