import { icon, make } from './dom.js';
import { colorsFor } from './settings.js';

/** @typedef {import('./types.ts').Settings} Settings */
/** @typedef {import('./types.ts').Texts} Texts */
/** @typedef {import('./types.ts').View} View */

const icons = {
  chat: 'M12 3C6.9 3 3 6.4 3 10.7c0 2.4 1.2 4.5 3.2 5.9L5.6 21l4.4-2.5c.6.1 1.3.2 2 .2 5.1 0 9-3.4 9-7.9S17.1 3 12 3z',
  close: 'M6 6l12 12M18 6L6 18',
  fold: 'M6 9l6 6 6-6',
  send: 'M4 12l16-8-6 16-2.5-6.5z',
};

/**
 * The button and the window, in a shadow tree: the page's styles do not reach in, and these do not reach out.
 * @param {Settings} settings
 * @param {Texts} texts
 * @param {HTMLElement} log
 * @param {string} css
 * @returns {View}
 */
export function createView(settings, texts, log, css) {
  const title = settings.title ?? texts.title;
  const badge = make('span', { class: 'badge', 'aria-hidden': 'true', hidden: '' });
  const launcher = make(
    'button',
    {
      type: 'button',
      class: 'launcher',
      'aria-expanded': 'false',
      'aria-controls': 'panel',
      'aria-label': texts.open,
    },
    icon(icons.chat),
    icon(icons.fold),
    badge,
  );
  const close = make(
    'button',
    { type: 'button', class: 'close', 'aria-label': texts.close },
    icon(icons.close),
  );
  const status = make('p', { class: 'status', role: 'status' });
  const input = make('textarea', {
    id: 'input',
    rows: '1',
    maxlength: '10000',
    placeholder: texts.write,
    dir: 'auto',
  });
  const send = make('button', { type: 'submit', class: 'send', 'aria-label': texts.send }, icon(icons.send));
  const form = make(
    'form',
    { class: 'composer' },
    make('label', { class: 'hidden', for: 'input' }, texts.write),
    input,
    send,
  );
  const panel = make(
    'section',
    { id: 'panel', class: 'panel', role: 'dialog', 'aria-labelledby': 'title', hidden: '' },
    make('header', {}, make('h2', { id: 'title' }, title), close),
    status,
    log,
    form,
  );
  const root = make('div', { class: 'root', lang: settings.language }, panel, launcher);
  const { accent, onAccent } = colorsFor(settings.color);
  root.style.setProperty('--accent', accent);
  root.style.setProperty('--on-accent', onAccent);
  mount(root, css);

  const isOpen = () => !panel.hidden;

  /** @param {boolean} open */
  function toggle(open) {
    panel.hidden = !open;
    root.classList.toggle('open', open);
    launcher.setAttribute('aria-expanded', String(open));
    launcher.setAttribute('aria-label', open ? texts.close : texts.open);
    view.onToggle(open);
  }

  /** @type {View} */
  const view = {
    input,
    isOpen,
    open({ focus }) {
      toggle(true);
      log.scrollTo({ top: log.scrollHeight });
      grow(input);
      if (focus) input.focus();
    },
    close() {
      toggle(false);
      launcher.focus();
    },
    setUnread(count) {
      badge.hidden = count === 0;
      badge.textContent = count > 9 ? '9+' : String(count);
      if (isOpen()) return;
      launcher.setAttribute('aria-label', count > 0 ? `${texts.open}, ${texts.unread(count)}` : texts.open);
    },
    setStatus(text) {
      if (status.textContent !== text) status.textContent = text;
    },
    onToggle: () => {},
    onSubmit: () => {},
  };

  launcher.addEventListener('click', () => (isOpen() ? view.close() : view.open({ focus: true })));
  close.addEventListener('click', () => view.close());
  panel.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.isComposing) view.close();
    event.stopPropagation(); // the page's own shortcuts are not meant while somebody writes here
  });
  input.addEventListener('input', () => grow(input));
  input.addEventListener('keydown', (event) => {
    // While a word is being composed, as in Japanese, Enter ends the word and not the message.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    submit();
    input.focus();
  });

  function submit() {
    const text = input.value.trim();
    if (text === '') return;
    input.value = '';
    grow(input);
    view.onSubmit(text);
  }
  return view;
}

/**
 * @param {HTMLElement} root
 * @param {string} css
 */
function mount(root, css) {
  const host = document.createElement('inbox-webchat');
  const shadow = host.attachShadow({ mode: 'open' });
  // Made by script, not as an element of the page: a Content-Security-Policy without inline styles lets it be.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  shadow.adoptedStyleSheets = [sheet];
  shadow.append(root);
  document.body.append(host);
}

/** @param {HTMLTextAreaElement} input */
function grow(input) {
  input.style.height = 'auto';
  input.style.height = `${input.scrollHeight}px`;
}
