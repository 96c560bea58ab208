export interface Loop {
  /** There may be something to do: run now, or once more after the run under way. */
  wake(): void;
  stop(): Promise<void>;
}

/** Runs `turn` when woken and after the time it returned, one at a time, whatever it throws. */
export function startLoop(
  turn: () => Promise<number>,
  onError: (error: unknown) => void,
  retryMs = 1_000,
): Loop {
  let stopped = false;
  let woken = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function run() {
    do {
      woken = false;
      let pauseMs = retryMs;
      try {
        pauseMs = await turn();
      } catch (error) {
        if (!stopped) onError(error);
      }
      if (!woken && !stopped) timer = setTimeout(start, pauseMs);
    } while (woken && !stopped);
    running = undefined;
  }

  function start() {
    clearTimeout(timer);
    timer = undefined;
    if (!stopped) running ??= run();
  }

  start();
  return {
    wake() {
      woken = true;
      start();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
