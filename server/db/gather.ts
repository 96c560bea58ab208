interface Waiting<Key, Row> {
  key: Key;
  resolve: (row: Row | undefined) => void;
  reject: (error: unknown) => void;
}

/** The next is made up while PostgreSQL works on those before. */
const mostUnderWay = 2;
/** What is taken together ends together: a crowd is not to wait for a crowd. */
const mostTogether = 100;
const tooLongMs = 1_000;

/**
 * What is asked for in one turn, or while others are under way, is done together: the busier the service, the less each
 * costs. Nobody is given what was read before they asked. Of those in the same lane only one is under way at a time, and
 * the others wait here, where they hold up nobody.
 */
export function gather<Key, Row>(
  work: (keys: Key[]) => Promise<(Row | undefined)[]>,
  laneOf?: (key: Key) => string,
): (key: Key) => Promise<Row | undefined> {
  let waiting: Waiting<Key, Row>[] = [];
  const busy = new Set<string>();
  let underWay = 0;
  let called = false;

  /** The first of every lane that is free. */
  function take(): Waiting<Key, Row>[] {
    if (!laneOf) return waiting.splice(0, mostTogether);
    const taken: Waiting<Key, Row>[] = [];
    const left: Waiting<Key, Row>[] = [];
    for (const one of waiting) {
      const lane = laneOf(one.key);
      if (taken.length === mostTogether || busy.has(lane)) {
        left.push(one);
      } else {
        busy.add(lane);
        taken.push(one);
      }
    }
    waiting = left;
    return taken;
  }

  async function next(): Promise<void> {
    if (underWay === mostUnderWay) return;
    const batch = take();
    if (batch.length === 0) return;
    underWay++;
    void next();
    const begun = performance.now();
    try {
      const rows = await work(batch.map(({ key }) => key));
      batch.forEach(({ resolve }, i) => resolve(rows[i]));
    } catch (error) {
      // After a long time those who wait have waited along, and would wait as long again.
      const along = performance.now() - begun > tooLongMs ? waiting.splice(0) : [];
      for (const { reject } of [...batch, ...along]) reject(error);
    }
    underWay--;
    if (laneOf) for (const { key } of batch) busy.delete(laneOf(key));
    void next();
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      if (called || underWay === mostUnderWay) return;
      called = true;
      setImmediate(() => {
        called = false;
        void next();
      });
    });
}
