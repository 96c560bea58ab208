/** @typedef {import('./types.ts').Api} Api */
/** @typedef {import('./types.ts').Settings} Settings */
/** @typedef {import('./types.ts').Store} Store */

const patienceMs = 20_000;
const renewWithinMs = 90 * 24 * 3_600_000;

/** The service answered, and said no. */
export class Refusal extends Error {
  /** @param {Response} response */
  constructor(response) {
    super(`The service answered ${response.status}`);
    this.status = response.status;
    this.retryAfterMs = Number(response.headers.get('retry-after')) * 1000;
    /** Asking again later may help. */
    this.passes = response.status >= 500 || response.status === 429;
  }
}

/**
 * @param {Settings} settings
 * @param {Store} store
 * @returns {Api}
 */
export function createApi({ origin, channel, user }, store) {
  const base = `${origin}/v1/channels/${encodeURIComponent(channel)}/webchat`;
  /** @type {Promise<string> | undefined} */
  let opening;

  /** @returns {{ token?: string, expires_at?: string }} */
  const kept = () => JSON.parse(store.get('session') ?? '{}');

  /** The token of this visitor, whichever tab asked for it first. */
  async function token() {
    const { token, expires_at } = kept();
    if (token && expires_at && Date.parse(expires_at) > Date.now() + renewWithinMs) return token;
    opening ??= openSession(token).finally(() => (opening = undefined));
    return opening;
  }

  /** @param {string | undefined} before */
  async function openSession(before) {
    const session = await json(
      await post('/session', { ...(before && { token: before }), ...(user && { user }) }, {}),
    );
    const { token: meanwhile } = kept();
    if (meanwhile && meanwhile !== before) return meanwhile;
    store.set('session', JSON.stringify(session));
    return /** @type {string} */ (session.token);
  }

  /**
   * @param {(headers: Record<string, string>) => Promise<Response>} ask
   * @param {boolean} [again]
   * @returns {Promise<Response>}
   */
  async function asVisitor(ask, again = false) {
    const used = await token();
    const response = await ask({ authorization: `Bearer ${used}` });
    if (response.status !== 401 || again) return response;
    if (kept().token === used) store.remove('session');
    return asVisitor(ask, true);
  }

  /**
   * @param {string} path
   * @param {object} body
   * @param {Record<string, string>} headers
   */
  const post = (path, body, headers) =>
    fetch(base + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(patienceMs),
    });

  return {
    async send({ id, content }) {
      return json(await asVisitor((headers) => post('/messages', { content, external_id: id }, headers)));
    },
    async history(before) {
      const query = before ? `?before=${encodeURIComponent(before)}` : '';
      const signal = AbortSignal.timeout(patienceMs);
      return json(await asVisitor((headers) => fetch(`${base}/messages${query}`, { headers, signal })));
    },
    async stream(cursor, signal) {
      const after = cursor ? { 'last-event-id': cursor } : {};
      const response = await asVisitor((headers) =>
        fetch(`${base}/events`, { headers: { ...headers, ...after }, signal, cache: 'no-store' }),
      );
      if (!response.ok || !response.body) throw new Refusal(response);
      return response.body;
    },
  };
}

/** @param {Response} response */
async function json(response) {
  if (!response.ok) throw new Refusal(response);
  return (await response.json()).data;
}
