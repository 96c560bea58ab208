import { connect as connectTcp, isIPv4, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls';
import { errors } from 'undici';

/** So that a dead first address leaves time for the next; long enough for one lost SYN, which is sent again after 1 s. */
const attemptMs = 2_000;
/** Of each family: an answer with a thousand addresses is no order to knock at a thousand doors. */
const mostAttempts = 3;

/** The first address that answers, in the order given. `deadline` is on the clock of `performance.now()`. */
export async function dial(addresses: string[], port: number, deadline: number): Promise<Socket> {
  let four = 0;
  let six = 0;
  const tried = addresses.filter((address) => (isIPv4(address) ? ++four : ++six) <= mostAttempts);
  const failures: unknown[] = [];
  for (const [index, host] of tried.entries()) {
    const leftMs = deadline - performance.now();
    const isLast = index === tried.length - 1;
    const socket = connectTcp({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 });
    try {
      await ready(socket, 'connect', isLast ? leftMs : Math.min(leftMs, attemptMs));
      return socket;
    } catch (error) {
      failures.push(error);
    }
  }
  // The first failure tells most: the last is often "no route" on a machine without IPv6.
  throw failures[0] ?? new Error('no address to dial');
}

/** `rejectUnauthorized` is said aloud because NODE_TLS_REJECT_UNAUTHORIZED=0 would be the default otherwise. */
export async function secure(
  socket: Socket,
  hostname: string,
  servername: string,
  secureContext: SecureContext,
  deadline: number,
): Promise<TLSSocket> {
  const secured = connectTls({
    socket,
    host: hostname,
    servername,
    secureContext,
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
  });
  try {
    await ready(secured, 'secureConnect', deadline - performance.now());
    return secured;
  } catch (error) {
    // OpenSSL has hundreds of codes; only here is it known that they are about TLS.
    const isTimeout = error instanceof errors.ConnectTimeoutError;
    if (error instanceof Error && !isTimeout) Object.assign(error, { stage: 'tls' });
    throw error;
  }
}

function ready(socket: Socket, event: 'connect' | 'secureConnect', timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new errors.ConnectTimeoutError()), Math.max(0, timeoutMs));
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(error);
    };
    socket.once('error', fail);
    socket.once(event, () => {
      clearTimeout(timer);
      socket.off('error', fail);
      resolve();
    });
  });
}
