/** @typedef {import('./types.ts').Settings} Settings */

/**
 * What the script tag says. undefined: it names no channel.
 * @param {HTMLScriptElement} script
 * @returns {Settings | undefined}
 */
export function readSettings(script) {
  const { channel, userId, userHash, userName, title, color, language } = script.dataset;
  if (!channel) return undefined;
  return {
    origin: new URL(script.src).origin,
    channel,
    user:
      userId && userHash ? { id: userId, hash: userHash, ...(userName && { name: userName }) } : undefined,
    title: title || undefined,
    color,
    language: validLanguage(language || document.documentElement.lang || navigator.language),
  };
}

/** @param {string} language */
function validLanguage(language) {
  try {
    return new Intl.Locale(language).toString();
  } catch {
    return 'en';
  }
}

const defaultColor = '#2457d6';

/**
 * The colour of the site and, of black and white, the one that is easier to read on it: one of them always has a
 * contrast of 4.5 and more.
 * @param {string | undefined} wanted
 */
export function colorsFor(wanted) {
  const accent = /^#[0-9a-f]{6}$/i.test(wanted ?? '') ? /** @type {string} */ (wanted) : defaultColor;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(accent.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return { accent, onAccent: luminance > 0.179 ? '#000000' : '#ffffff' };
}
