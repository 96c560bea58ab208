export interface Loop {
  /** There may be something to do: run now, or once more after the run under way. */
  wake(): void;
  stop(): Promise<void>;
}

const retryMs = 1_000;

/**
 * Runs `turn` when woken and after the time it returned, one at a time, whatever it throws. `apartMs`: how far turns
 * begin apart at least, so that work which comes all the time is done in batches; the first after a rest is not delayed.
 */
export function startLoop(turn: () => Promise<number>, onError: (error: unknown) => void, apartMs = 0): Loop {
  let begunAt = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let woken = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function run() {
    woken = false;
    begunAt = performance.now();
    let pauseMs = retryMs;
    try {
      pauseMs = await turn();
    } catch (error) {
      if (!stopped) onError(error);
    }
    running = undefined;
    if (!stopped) startIn(woken ? 0 : pauseMs);
  }

  function startIn(ms: number) {
    clearTimeout(timer);
    const wait = Math.max(ms, begunAt + apartMs - performance.now());
    if (wait > 0) timer = setTimeout(start, wait);
    else start();
  }

  function start() {
    clearTimeout(timer);
    if (!stopped) running ??= run();
  }

  start();
  return {
    wake() {
      if (woken) return;
      woken = true;
      if (!running) startIn(0);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
