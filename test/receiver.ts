import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority } from './certificates.ts';
import { atEnd } from './harness.ts';

/** What a webhook's server got, exactly. */
export interface Received {
  headers: IncomingHttpHeaders;
  /** The bytes of the body as text. */
  body: string;
  path: string;
  at: number;
}

export type Behaviour = (received: Received, response: ServerResponse, request: IncomingMessage) => void;

export interface Receiver {
  url(path?: string): string;
  received: Received[];
  /** What to answer from now on; 200 unless told. */
  answer(behaviour: Behaviour): void;
  /** Waits until as many have come, or fails. */
  waitFor(count: number, timeoutMs?: number): Promise<Received[]>;
  close(): Promise<void>;
}

const authority = createAuthority();
const certificate = authority.issue({ hosts: ['127.0.0.1', 'localhost'] });

/** For `startService({ egress: { ca } })` and NODE_EXTRA_CA_CERTS. */
export const receiverCa = authority.cert;
export const issueCertificate = authority.issue;

/** So that a test's service may call this machine. */
export const receiverEnv = { INBOX_EGRESS_ALLOW: '127.0.0.0/8' };

/** A real HTTPS server on a free port that writes down what it gets before it answers. */
export async function startReceiver(tls = certificate): Promise<Receiver> {
  const received: Received[] = [];
  let behaviour: Behaviour = (_received, response) => void response.end('ok');
  let arrived = Promise.withResolvers<void>();
  const server = createServer(tls, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = {
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        path: request.url ?? '',
        at: performance.now(),
      };
      received.push(one);
      behaviour(one, response, request);
      arrived.resolve();
      arrived = Promise.withResolvers();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    if (server.listening) {
      server.close();
      await once(server, 'close');
    }
  };
  atEnd(close);
  return {
    url: (path = '/') => `https://127.0.0.1:${port}${path}`,
    received,
    answer: (next) => void (behaviour = next),
    close,
    async waitFor(count, timeoutMs = 15_000) {
      const deadline = AbortSignal.timeout(timeoutMs);
      while (received.length < count) {
        if (deadline.aborted) throw new Error(`only ${received.length} of ${count} came in ${timeoutMs} ms`);
        await Promise.race([arrived.promise, new Promise((resolve) => setTimeout(resolve, 100))]);
      }
      return received;
    },
  };
}

/** Polls until the check passes without an error, or fails with its last one. */
export async function eventually<T>(check: () => Promise<T> | T, timeoutMs = 15_000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
