import { make } from './dom.js';
import { isWebAddress, linked, linkTo } from './text.js';

/** @typedef {import('./types.ts').Message} Message */
/** @typedef {import('./types.ts').Pending} Pending */
/** @typedef {import('./types.ts').Texts} Texts */
/** @typedef {import('./types.ts').Log} Log */
/** @typedef {{ message: Pending, element: HTMLElement, seen?: Message }} Waiting */

const togetherMs = 120_000;

/**
 * The conversation. It only ever grows: nothing on the page is built anew, so no selection, focus or scroll is lost.
 * @param {Texts} texts
 * @param {string} language
 * @returns {Log}
 */
export function createLog(texts, language) {
  const times = new Intl.DateTimeFormat(language, { hour: 'numeric', minute: '2-digit' });
  const days = new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long' });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });

  const earlier = make('div', { class: 'earlier' });
  const list = make('div', { class: 'list' }, make('p', { class: 'welcome' }, texts.welcome));
  const element = make(
    'div',
    { class: 'log', role: 'log', 'aria-live': 'polite', 'aria-label': texts.conversation, tabindex: '0' },
    earlier,
    list,
  );
  /** @type {Map<string, HTMLElement>} */
  const shown = new Map();
  /** @type {Map<string, Waiting>} */
  const pending = new Map();

  /** @param {string} at */
  function dayOf(at) {
    const date = new Date(at);
    const ago = Math.round(
      (new Date().setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / 86_400_000,
    );
    const text = ago < 2 ? relative.format(-ago, 'day') : days.format(date);
    return text.charAt(0).toLocaleUpperCase(language) + text.slice(1);
  }

  /** @param {string} day */
  const dayLine = (day) => make('p', { class: 'day', 'data-day': day }, make('span', {}, day));

  /** @param {Omit<Message, 'id'>} message */
  function bubbleFor({ from, author, content, attachments, created_at }) {
    const who = from === 'visitor' ? texts.you : (author ?? '');
    const name = make('p', { class: from === 'visitor' ? 'hidden' : 'author' }, who);
    const text = make('div', { class: 'text', dir: 'auto' }, ...linked(content, texts.opensInNewTab));
    const files = attachments.map((attachment) => fileFor(attachment, texts));
    const time = make('time', { datetime: created_at }, times.format(new Date(created_at)));
    const parts = [name, ...(content === '' ? [] : [text]), ...files, make('p', { class: 'meta' }, time)];
    const bubble = make('div', { class: `message ${from}` }, ...parts);
    bubble.dataset.who = `${from} ${author ?? ''}`;
    bubble.dataset.at = created_at;
    bubble.dataset.day = dayOf(created_at);
    return bubble;
  }

  /**
   * After what stands there, with a line between days; what one person says in one go stands together.
   * @param {ParentNode & Node} place
   * @param {HTMLElement} bubble
   */
  function append(place, bubble) {
    const last = /** @type {HTMLElement | null} */ (place.lastElementChild);
    const day = bubble.dataset.day ?? '';
    if (last?.dataset.day !== day) place.append(dayLine(day));
    else if (last.dataset.who === bubble.dataset.who && last.dataset.at) {
      bubble.classList.add('continued');
      const between = Date.parse(bubble.dataset.at ?? '') - Date.parse(last.dataset.at);
      if (between < togetherMs) last.classList.add('timeless');
    }
    place.append(bubble);
  }

  const isAtEnd = () => element.scrollHeight - element.scrollTop - element.clientHeight < 80;
  const scrollToEnd = () => element.scrollTo({ top: element.scrollHeight });

  /** @param {HTMLElement} bubble */
  function appendInSight(bubble) {
    const follow = isAtEnd() || bubble.classList.contains('visitor');
    append(list, bubble);
    if (follow) scrollToEnd();
  }

  /**
   * A message may be told of before the answer to sending it is here: then its bubble is here already.
   * @param {Message} message
   */
  function adopt(message) {
    if (message.from !== 'visitor' || shown.has(message.id)) return false;
    const waiting = [...pending.values()].find(
      ({ message: { content }, seen }) => !seen && content === message.content,
    );
    if (!waiting) return false;
    waiting.seen = message;
    shown.set(message.id, waiting.element);
    return true;
  }

  /** @param {Message} message */
  function add(message) {
    if (shown.has(message.id) || adopt(message)) return false;
    const bubble = bubbleFor(message);
    shown.set(message.id, bubble);
    appendInSight(bubble);
    return true;
  }

  return {
    element,
    add,
    scrollToEnd,

    addEarlier(messages) {
      const fromEnd = element.scrollHeight - element.scrollTop;
      const older = document.createDocumentFragment();
      // What was stored while its answer got lost stands at the end, and here as a message still being sent.
      const tail = messages.slice(messages.findLastIndex(({ from }) => from === 'agent') + 1);
      for (const message of tail) adopt(message);
      for (const message of messages.filter(({ id }) => !shown.has(id))) {
        const bubble = bubbleFor(message);
        shown.set(message.id, bubble);
        append(older, bubble);
      }
      const last = /** @type {HTMLElement | null} */ (older.lastElementChild);
      const firstDay = list.querySelector('.day');
      if (last && firstDay instanceof HTMLElement && firstDay.dataset.day === last.dataset.day)
        firstDay.remove();
      list.querySelector('.welcome')?.after(older);
      element.scrollTop = element.scrollHeight - fromEnd;
    },

    addPending(message, onRetry) {
      if (pending.has(message.id)) return;
      const element = bubbleFor({ ...message, from: 'visitor', author: null, attachments: [] });
      const retry = make('button', { type: 'button', class: 'retry' }, texts.retry);
      retry.addEventListener('click', onRetry);
      element.querySelector('.meta')?.append(make('span', { class: 'state' }, texts.sending), retry);
      element.classList.add('pending');
      pending.set(message.id, { message, element });
      appendInSight(element);
    },

    markPending(id, state) {
      const element = pending.get(id)?.element;
      const line = element?.querySelector('.state');
      if (!element || !line) return;
      element.classList.toggle('unsent', state !== 'sending');
      line.textContent = { sending: texts.sending, waiting: texts.tryingAgain, refused: texts.notSent }[
        state
      ];
    },

    confirm(id, message) {
      const { element, seen } = /** @type {Waiting} */ (pending.get(id));
      pending.delete(id);
      element.classList.remove('pending', 'unsent');
      element.querySelector('.state')?.remove();
      element.querySelector('.retry')?.remove();
      if (seen && seen.id !== message.id) shown.delete(seen.id);
      const other = shown.get(message.id);
      if (other && other !== element) element.remove();
      else shown.set(message.id, element);
      // Two messages of the same text, and this bubble was taken for the other one.
      if (seen && seen.id !== message.id) add(seen);
    },

    offerEarlier(load) {
      earlier.replaceChildren();
      if (!load) return;
      const button = make('button', { type: 'button', class: 'quiet' }, texts.earlier);
      button.addEventListener('click', () => {
        button.disabled = true;
        load().catch(() => (button.disabled = false));
      });
      earlier.append(button);
    },
  };
}

/**
 * @param {import('./types.ts').Attachment} attachment
 * @param {Texts} texts
 * @returns {Node}
 */
function fileFor({ url, content_type, file_name }, texts) {
  const isImage = /^image\/(png|jpe?g|gif|webp|avif)$/i.test(content_type) && isWebAddress(url);
  if (!isImage) return make('p', { class: 'file' }, linkTo(url, file_name || url, texts.opensInNewTab));
  const image = make('img', { src: url, alt: file_name, loading: 'lazy', referrerpolicy: 'no-referrer' });
  const link = make(
    'a',
    { href: url, target: '_blank', rel: 'noopener noreferrer nofollow', class: 'image' },
    image,
  );
  // A picture that cannot be shown is still a file that can be opened.
  image.addEventListener('error', () => link.replaceChildren(file_name || url));
  return link;
}
