/** @typedef {import('./types.ts').Settings} Settings */
/** @typedef {import('./types.ts').Store} Store */

/**
 * What the browser keeps, apart for each channel and each user. Where a browser keeps nothing, memory does for as long
 * as the page is there.
 * @param {Pick<Settings, 'channel' | 'user'>} settings
 * @returns {Store}
 */
export function openStore({ channel, user }) {
  const kept = usableStorage();
  const ofChannel = `inbox:${channel}:`;
  const users = `${ofChannel}user:`;
  const own = user ? `${users}${encodeURIComponent(user.id)}:` : `${ofChannel}visitor:`;

  // Whoever uses this browser now, it is not them: somebody has logged out.
  for (const name of namesOf(kept)) {
    if (name.startsWith(users) && !name.startsWith(own)) kept.removeItem(name);
  }
  return {
    get: (name) => kept.getItem(own + name),
    set(name, value) {
      try {
        kept.setItem(own + name, value);
      } catch {
        // Full. What is written is still on the page and on its way.
      }
    },
    remove: (name) => kept.removeItem(own + name),
    under: (prefix) =>
      namesOf(kept)
        .filter((name) => name.startsWith(own + prefix))
        .toSorted()
        .map((name) => ({ name: name.slice(own.length), value: kept.getItem(name) ?? '' })),
    onChange(listener) {
      addEventListener('storage', ({ key, storageArea }) => {
        if (storageArea === kept && key?.startsWith(own)) listener(key.slice(own.length));
      });
    },
  };
}

/** @param {Storage} storage */
const namesOf = (storage) => Array.from({ length: storage.length }, (_, place) => storage.key(place) ?? '');

function usableStorage() {
  try {
    localStorage.setItem('inbox:', '');
    localStorage.removeItem('inbox:');
    return localStorage;
  } catch {
    return memoryStorage();
  }
}

/** @returns {Storage} */
function memoryStorage() {
  /** @type {Map<string, string>} */
  const kept = new Map();
  return {
    get length() {
      return kept.size;
    },
    key: (place) => [...kept.keys()][place] ?? null,
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => void kept.set(name, value),
    removeItem: (name) => void kept.delete(name),
    clear: () => kept.clear(),
  };
}
