/**
 * The one way elements are made here: attributes and text, never markup.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string>} [attributes]
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/**
 * @param {string} path
 * @returns {SVGElement}
 */
export function icon(path) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const drawn = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  drawn.setAttribute('d', path);
  svg.append(drawn);
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  return svg;
}

/**
 * Waits, unless it is woken before.
 * @param {number} ms
 * @param {(wake: () => void) => void} [onWake]
 * @returns {Promise<void>}
 */
export function pause(ms, onWake) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    onWake?.(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * Doubles from a second to half a minute, each a little different from anyone else's.
 * @param {number} failures
 */
export const backoff = (failures) => Math.min(30_000, 500 * 2 ** failures) * (0.75 + Math.random() / 2);
