import { Refusal } from './api.js';
import { backoff, pause } from './dom.js';

/** @typedef {import('./types.ts').Pending} Pending */

/**
 * What was written and is not known to be stored. Each message is kept under a name of its own until the service has
 * it, so a reload in the middle sends it again; the service knows it by its id and stores it once.
 * @param {{ store: import('./types.ts').Store, api: import('./types.ts').Api, log: import('./types.ts').Log,
 *   onStored: () => void }} parts
 */
export function createOutbox({ store, api, log, onStored }) {
  /** @type {(Pending & { refused?: boolean })[]} */
  let queue = [];
  let sending = false;
  let wake = () => {};

  /** @param {Pending} message */
  function enqueue(message) {
    queue.push(message);
    log.addPending(message, () => retry(message.id));
    void flush();
  }

  /** @param {string} id */
  function retry(id) {
    for (const message of queue) if (message.id === id) message.refused = false;
    wake();
    void flush();
  }

  /** One after the other, in the order they were written. */
  async function flush() {
    if (sending) return;
    sending = true;
    let failures = 0;
    for (let next = first(); next; next = first()) {
      log.markPending(next.id, 'sending');
      try {
        const stored = await api.send(next);
        failures = 0;
        forget(next.id);
        log.confirm(next.id, stored);
        onStored();
      } catch (error) {
        if (error instanceof Refusal && !error.passes) {
          next.refused = true;
          log.markPending(next.id, 'refused');
          continue;
        }
        log.markPending(next.id, 'waiting');
        const asked = error instanceof Refusal ? error.retryAfterMs : 0;
        await pause(Math.max(asked, backoff(++failures)), (now) => (wake = now));
      }
    }
    sending = false;
  }

  const first = () => queue.find(({ refused }) => !refused);

  /** @param {string} id */
  function forget(id) {
    queue = queue.filter((message) => message.id !== id);
    store.remove(`out:${id}`);
  }

  addEventListener('online', () => wake());

  return {
    /** @param {string} content */
    add(content) {
      const message = { id: newId(), content, created_at: new Date().toISOString() };
      store.set(`out:${message.id}`, JSON.stringify(message));
      enqueue(message);
    },
    /** What an earlier page could not send. */
    resume() {
      const left = store.under('out:').map(({ value }) => /** @type {Pending} */ (JSON.parse(value)));
      for (const message of left.toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1))) enqueue(message);
      return left.length > 0;
    },
  };
}

/** `crypto.randomUUID` is missing on pages without TLS. */
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
