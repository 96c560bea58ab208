export interface Batcher<Item> {
  add(item: Item): void;
  /** Waits until everything added so far is written. */
  drain(): Promise<void>;
}

/** Gathers items and hands them over in batches: at most `size` at a time, none later than `delayMs` after it came. */
export function createBatcher<Item>(
  write: (items: Item[]) => Promise<void>,
  { size, delayMs }: { size: number; delayMs: number },
): Batcher<Item> {
  let items: Item[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (items.length === 0) return;
    const batch = items;
    items = [];
    writing = writing.then(() => write(batch));
  };

  return {
    add(item) {
      items.push(item);
      if (items.length >= size) flush();
      else timer ??= setTimeout(flush, delayMs);
    },
    async drain() {
      flush();
      await writing;
    },
  };
}
