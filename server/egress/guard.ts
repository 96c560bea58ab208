import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { type buildConnector, errors } from 'undici';
import type { Config } from '../config.ts';
import { invalid } from '../errors.ts';
import { contains, isPublic, parseAddress, parseRange } from './addresses.ts';
import { dial, secure } from './dial.ts';
import { createLookup, type Lookup } from './lookup.ts';

/** Outgoing requests reach public addresses only, however the address is spelt and whatever DNS says. */
export interface Egress {
  /**
   * At registration. Throws a 422 for a URL that may not be called; returns it normalised, without its fragment.
   * A name that does not resolve now is accepted: the connection decides.
   */
  checkUrl(field: string, text: string): Promise<URL>;
  /**
   * At every connection: `new Agent({ connect: egress.connector })`. It is given up after `connectTimeoutMs`, because
   * undici's own `connectTimeout` does not reach a connector. A socket that stays in the pool when DNS changes is still
   * connected to the address that was checked, so it needs no second look.
   */
  connector: buildConnector.connector;
}

export type EgressRefusal = 'blocked_address' | 'dns';

/** What `undici.request` rejects with (`fetch` hides it in `cause`). It names no address: tenants may read it. */
export class EgressError extends Error {
  readonly code: EgressRefusal;

  constructor(code: EgressRefusal, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface EgressOptions {
  lookup?: Lookup;
  /** Trusted instead of the usual authorities. */
  ca?: string | Buffer;
  connectTimeoutMs?: number;
}

const mostUrlCharacters = 2048;
const registrationLookupMs = 2_000;

export function createEgress(
  config: Pick<Config, 'egressAllow' | 'allowHttpWebhooks'>,
  { lookup = createLookup(), ca, connectTimeoutMs = 10_000 }: EgressOptions = {},
): Egress {
  const opened = config.egressAllow.map(parseRange);
  const schemes = config.allowHttpWebhooks ? ['https:', 'http:'] : ['https:'];
  const secureContext = createSecureContext({ minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) });

  function mayReach(text: string): boolean {
    const address = parseAddress(text);
    return address !== undefined && (isPublic(address) || opened.some((range) => contains(range, address)));
  }

  /** One forbidden answer spoils the name: a good one beside it is how rebinding looks. */
  async function addressesOf(hostname: string): Promise<string[]> {
    const addresses = isIP(hostname) ? [hostname] : await ask(hostname);
    if (addresses.length === 0 || !addresses.every(mayReach)) throw blocked(hostname);
    return addresses;
  }

  async function ask(hostname: string): Promise<string[]> {
    if (isLocalhost(hostname)) return loopbacks.filter(mayReach);
    const answers = await lookup(hostname, { all: true }).catch((cause: unknown) => {
      throw new EgressError('dns', `${hostname} does not resolve`, { cause });
    });
    if (answers.length === 0) throw new EgressError('dns', `${hostname} has no address`);
    return answers.map(({ address }) => address);
  }

  async function checkUrl(field: string, text: string): Promise<URL> {
    const url = URL.parse(text);
    if (text.length > mostUrlCharacters || (url && url.href.length > mostUrlCharacters)) {
      throw invalid(field, 'maxLength', `${field} must have at most ${mostUrlCharacters} characters`);
    }
    if (!url) throw notUrl(field);
    if (url.port === '0') throw invalid(field, 'port', `${field} must name a port from 1 to 65535, or none`);
    if (!schemes.includes(url.protocol)) {
      throw invalid(field, 'scheme', `${field} must start with ${schemes.join('// or ')}//`);
    }
    if (!isWritten(text)) throw notUrl(field);
    if (url.username || url.password) {
      throw invalid(field, 'credentials', `${field} must carry no user name or password`);
    }
    const hostname = bare(url.hostname);
    if (!isIP(hostname) && !isName(hostname))
      throw invalid(field, 'host', `${field} must name a host, of labels of at most 63 characters`);
    const refusal = await within(registrationLookupMs, addressesOf(hostname)).then(
      () => undefined,
      refusalOf,
    );
    if (refusal === 'blocked_address') {
      throw invalid(
        field,
        'public_address',
        `${field} must lead to a public address; the operator can open others with INBOX_EGRESS_ALLOW`,
      );
    }
    url.hash = '';
    return url;
  }

  async function connect({ hostname: host, protocol, port }: buildConnector.Options) {
    const deadline = performance.now() + connectTimeoutMs;
    const hostname = bare(host);
    // The setting may have been switched off after the URL was stored.
    if (!schemes.includes(protocol)) throw new EgressError('blocked_address', `${protocol}// is not allowed`);
    const addresses = await within(connectTimeoutMs, addressesOf(hostname));
    const socket = await dial(addresses, Number(port) || (protocol === 'https:' ? 443 : 80), deadline);
    const peer = socket.remoteAddress;
    if (peer === undefined || !mayReach(peer)) {
      socket.destroy();
      throw peer === undefined ? lost(hostname) : blocked(hostname);
    }
    if (protocol === 'http:') return socket;
    const servername = isIP(hostname) ? '' : hostname.replace(/\.$/, ''); // RFC 6066: no address, no trailing dot
    return secure(socket, hostname, servername, secureContext, deadline);
  }

  return {
    checkUrl,
    connector: (options, callback) => {
      /* oxlint-disable promise/no-callback-in-promise -- a callback is what undici's interface is */
      connect(options).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
      /* oxlint-enable promise/no-callback-in-promise */
    },
  };
}

/** Why a request failed, when the guard is the reason; also behind the `cause` of `fetch`. */
export function refusalOf(error: unknown): EgressRefusal | undefined {
  if (error instanceof EgressError) return error.code;
  return error instanceof Error && error.cause instanceof EgressError ? error.cause.code : undefined;
}

/**
 * RFC 6761: these names are the loopback, whatever DNS says. Both addresses, of which the operator may have opened one:
 * 127.0.0.0/8 is what people write, and `localhost` is what they call.
 */
const loopbacks = ['127.0.0.1', '::1'];

function isLocalhost(hostname: string): boolean {
  return /(^|\.)localhost\.?$/i.test(hostname);
}

function isName(hostname: string): boolean {
  return hostname.length <= 254 && /^[^.]{1,63}(\.[^.]{1,63})*\.?$/.test(hostname);
}

/** URLs write IPv6 in brackets, sockets do not. */
function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function blocked(hostname: string): EgressError {
  return new EgressError('blocked_address', `${hostname} leads to an address that is not public`);
}

/** Not undici's SocketError: on that one a Client dials again instead of failing its requests. */
function lost(hostname: string): Error {
  return Object.assign(new Error(`${hostname} closed the connection`), { code: 'ECONNRESET' });
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new errors.ConnectTimeoutError()), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** `URL` also reads blanks, line breaks, backslashes and a missing `//`, and takes them away. */
const isWritten = (text: string): boolean => /^[a-z]+:\/\/[^\s\\\p{Cc}]+$/iu.test(text);

const notUrl = (field: string): Error =>
  invalid(field, 'url', `${field} must be a URL, such as https://example.com/inbox`);
