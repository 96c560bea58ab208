import { make } from './dom.js';

/**
 * Text with its web addresses as links. Only http and https: nothing that could run.
 * @param {string} content
 * @param {string} hint
 * @returns {Node[]}
 */
export function linked(content, hint) {
  return content.split(/(https?:\/\/[^\s<>"']+)/i).flatMap((piece, place) => {
    if (place % 2 === 0) return piece === '' ? [] : [document.createTextNode(piece)];
    const [, address = '', rest = ''] = /^(.*?)([.,;:!?)\]}]*)$/.exec(piece) ?? [];
    return [linkTo(address, address, hint), document.createTextNode(rest)];
  });
}

/**
 * @param {string} url
 * @param {string} text
 * @param {string} hint
 * @returns {Node}
 */
export function linkTo(url, text, hint) {
  if (!isWebAddress(url)) return document.createTextNode(text);
  const attributes = { href: url, target: '_blank', rel: 'noopener noreferrer nofollow' };
  return make('a', attributes, text, make('span', { class: 'hidden' }, ` (${hint})`));
}

/** @param {string} url */
export const isWebAddress = (url) => /^https?:\/\//i.test(url) && URL.canParse(url);
