import { createApi } from './api.js';
import { createLog } from './log.js';
import { createNews } from './news.js';
import { createOutbox } from './outbox.js';
import { readSettings } from './settings.js';
import { openStore } from './store.js';
import { textsFor } from './texts.js';
import { createView } from './view.js';

/** @typedef {import('./types.ts').Message} Message */
/** @typedef {import('./types.ts').Page} Page */
/** @typedef {import('./types.ts').Settings} Settings */

/**
 * Puts the chat on the page. An anonymous visitor who has not opened it yet costs nothing: no request, nothing kept.
 * @param {Settings} settings
 */
function start(settings) {
  if (document.querySelector('inbox-webchat')) return; // the line stands on the page twice
  const texts = textsFor(settings.language);
  const store = openStore(settings);
  const api = createApi(settings, store);
  const log = createLog(texts, settings.language);
  const view = createView(settings, texts, log.element, css);
  const isNewHere = store.get('session') === null;
  const unread = countUnread();
  const news = createNews({ api, onPage, onMessage, onTrouble });
  const outbox = createOutbox({ store, api, log, onStored: () => news.start() });

  /** @param {Page} page */
  function onPage({ messages, before }) {
    log.element.setAttribute('aria-busy', 'true'); // what was said before is not read aloud as if it were new
    log.addEarlier(messages);
    offerEarlier(before);
    log.scrollToEnd();
    setTimeout(() => log.element.removeAttribute('aria-busy'));
    unread.look(messages);
    if (isNewHere) unread.clear(); // a user who comes with another device has read this elsewhere
  }

  /** @param {string | null} before */
  function offerEarlier(before) {
    const load = async () => {
      const page = await news.earlier(/** @type {string} */ (before));
      log.addEarlier(page.messages);
      offerEarlier(page.before);
    };
    log.offerEarlier(before === null ? undefined : load);
  }

  /** @param {Message} message */
  function onMessage(message) {
    if (log.add(message)) unread.look([message]);
  }

  /** @param {'none' | 'connecting' | 'refused'} trouble */
  function onTrouble(trouble) {
    view.setStatus({ none: '', connecting: texts.connecting, refused: texts.unavailable }[trouble]);
  }

  /** Answers that came while the window was closed, in any tab. */
  function countUnread() {
    /** @type {string[]} */
    let waiting = [];
    const show = () => {
      const seen = store.get('seen') ?? '';
      waiting = waiting.filter((at) => at > seen);
      view.setUnread(waiting.length);
    };
    store.onChange((name) => name === 'seen' && show());
    return {
      /** @param {Message[]} messages */
      look(messages) {
        const answers = messages.filter(({ from }) => from === 'agent').map((message) => message.created_at);
        waiting.push(...answers);
        if (view.isOpen()) this.clear();
        else show();
      },
      clear() {
        const last = waiting.toSorted().at(-1);
        if (last !== undefined && last > (store.get('seen') ?? '')) store.set('seen', last);
        show();
      },
    };
  }

  view.input.value = store.get('draft') ?? '';
  view.input.addEventListener('input', () => keepDraft(view.input.value));
  /** @param {string} text */
  function keepDraft(text) {
    if (text === '') store.remove('draft');
    else store.set('draft', text);
  }

  view.onSubmit = (text) => {
    store.remove('draft');
    outbox.add(text);
  };
  view.onToggle = (open) => {
    rememberOpen(settings.channel, open);
    if (!open) return;
    unread.clear();
    news.start();
  };

  const isKnown = store.get('session') !== null || settings.user !== undefined;
  if (outbox.resume() || isKnown) news.start();
  if (wasOpen(settings.channel)) view.open({ focus: false });
}

/**
 * From page to page of a site, in this tab.
 * @param {string} channel
 * @param {boolean} open
 */
function rememberOpen(channel, open) {
  try {
    if (open) sessionStorage.setItem(`inbox:${channel}:open`, '1');
    else sessionStorage.removeItem(`inbox:${channel}:open`);
  } catch {
    // A browser that keeps nothing: the window is closed on the next page.
  }
}

/** @param {string} channel */
function wasOpen(channel) {
  try {
    return sessionStorage.getItem(`inbox:${channel}:open`) !== null;
  } catch {
    return false;
  }
}

const script = document.currentScript;
const settings = script instanceof HTMLScriptElement ? readSettings(script) : undefined;
if (!settings) console.error('The chat widget needs data-channel="ch_…" on its script tag');
else if (document.body) start(settings);
else addEventListener('DOMContentLoaded', () => start(settings));
