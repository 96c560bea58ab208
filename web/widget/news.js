import { Refusal } from './api.js';
import { backoff, pause } from './dom.js';
import { readEvents } from './events.js';

/** @typedef {import('./types.ts').Message} Message */
/** @typedef {import('./types.ts').Page} Page */

/** The service says something every 20 seconds: after twice that, nobody is there. */
const silenceMs = 45_000;
/** A tab in the background lets go of its stream: a browser has only six connections to a server. */
const hiddenMs = 5_000;
/** Shorter interruptions are not worth a word. */
const quietMs = 3_000;

/**
 * Reads what was said, then follows what is being said, for as long as the page is there.
 * @param {{ api: import('./types.ts').Api, onPage: (page: Page) => void, onMessage: (message: Message) => void,
 *   onTrouble: (trouble: 'none' | 'connecting' | 'refused') => void }} parts
 */
export function createNews({ api, onPage, onMessage, onTrouble }) {
  let cursor = '';
  let failures = 0;
  let wake = () => {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let complaint;
  let running = false;

  function well() {
    clearTimeout(complaint);
    complaint = undefined;
    failures = 0;
    onTrouble('none');
  }

  /** @param {() => Promise<void>} work */
  async function untilDone(work) {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        await recover(error);
      }
    }
  }

  /**
   * Waits until it makes sense to try again; throws where it never will.
   * @param {unknown} error
   */
  async function recover(error) {
    if (error instanceof Refusal && !error.passes) {
      clearTimeout(complaint);
      onTrouble('refused');
      throw error;
    }
    complaint ??= setTimeout(() => onTrouble('connecting'), quietMs);
    const asked = error instanceof Refusal ? error.retryAfterMs : 0;
    await pause(Math.max(asked, backoff(++failures)), (now) => (wake = now));
  }

  async function readHistory() {
    const page = await api.history();
    cursor = page.cursor;
    onPage(page);
    well();
  }

  /** One stream, from the cursor to its end. */
  async function follow() {
    await untilVisible();
    const ending = new AbortController();
    const abort = () => ending.abort();
    let watchdog = setTimeout(abort, silenceMs);
    const stopWatching = whenHidden(abort);
    try {
      const body = await api.stream(cursor, ending.signal);
      const events = readEvents(body, () => {
        well();
        clearTimeout(watchdog);
        watchdog = setTimeout(abort, silenceMs);
      });
      for await (const { id, data } of events) {
        onMessage(JSON.parse(data));
        cursor = id;
      }
      throw new Error('the stream has ended');
    } catch (error) {
      if (document.visibilityState === 'visible') throw error;
    } finally {
      clearTimeout(watchdog);
      stopWatching();
      abort();
    }
  }

  async function run() {
    await untilDone(readHistory);
    for (;;) await untilDone(follow);
  }

  addEventListener('online', () => wake());

  return {
    start() {
      if (running) return;
      running = true;
      run().catch(() => {}); // a refusal for good: it has been told
    },
    /** @param {string} before */
    earlier: (before) => api.history(before),
  };
}

/** @returns {Promise<void>} */
function untilVisible() {
  return new Promise((resolve) => {
    const look = () => {
      if (document.visibilityState !== 'visible') return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    look();
  });
}

/**
 * @param {() => void} then
 * @returns {() => void}
 */
function whenHidden(then) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const look = () => {
    clearTimeout(timer);
    if (document.visibilityState === 'hidden') timer = setTimeout(then, hiddenMs);
  };
  document.addEventListener('visibilitychange', look);
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', look);
  };
}
