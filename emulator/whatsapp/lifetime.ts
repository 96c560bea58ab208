import { setTimeout as sleep } from 'node:timers/promises';

/** Work that goes on behind an answer: waited for by `settled`, cut off by `end`. */
export interface Lifetime {
  signal: AbortSignal;
  run(work: () => Promise<unknown>): void;
  sleep(ms: number): Promise<void>;
  settled(): Promise<void>;
  end(): Promise<void>;
}

export function createLifetime(): Lifetime {
  const ending = new AbortController();
  const underWay = new Set<Promise<unknown>>();

  async function settled(): Promise<void> {
    while (underWay.size > 0) await Promise.allSettled(underWay);
  }

  return {
    signal: ending.signal,
    run(work) {
      const running = work()
        .catch((error: unknown) => {
          if (!ending.signal.aborted) throw error;
        })
        .finally(() => underWay.delete(running));
      underWay.add(running);
    },
    sleep: (ms) => sleep(ms, undefined, { signal: ending.signal }),
    settled,
    async end() {
      ending.abort();
      await settled();
    },
  };
}
