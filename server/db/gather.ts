interface Waiting<Key, Row> {
  key: Key;
  resolve: (row: Row | undefined) => void;
  reject: (error: unknown) => void;
}

/** As many as there are connections for short reads; the next is made up while PostgreSQL works on those before. */
const mostUnderWay = 2;
/** What is taken together ends together: a crowd is not to wait for a crowd. */
const mostTogether = 100;

/**
 * What is asked for in one turn, or while others are under way, shares the next statement: the busier the service, the
 * less each costs. Nobody is given what was read before they asked.
 */
export function gather<Key, Row>(
  work: (keys: Key[]) => Promise<(Row | undefined)[]>,
): (key: Key) => Promise<Row | undefined> {
  const waiting: Waiting<Key, Row>[] = [];
  let underWay = 0;

  async function next(): Promise<void> {
    if (waiting.length === 0 || underWay === mostUnderWay) return;
    const batch = waiting.splice(0, mostTogether);
    underWay++;
    void next();
    try {
      const rows = await work(batch.map(({ key }) => key));
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
