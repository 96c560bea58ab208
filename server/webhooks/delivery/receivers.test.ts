import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { createServer, type TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { createSelfSigned, expired } from '../../../test/certificates.ts';
import { atEnd, startService } from '../../../test/harness.ts';
import { eventually, issueCertificate, receiverCa, receiverEnv } from '../../../test/receiver.ts';
import { startDeliveryWorker } from './worker.ts';

/** Receivers that misbehave on the wire, below HTTP. One attempt tells. */
const timeoutMs = 1_500;
const service = await startService({
  env: {
    ...receiverEnv,
    INBOX_WEBHOOK_TIMEOUT_SECONDS: String(timeoutMs / 1000),
    INBOX_WEBHOOK_RETRY_SECONDS: '3600',
  },
  egress: { ca: receiverCa },
});
const worker = startDeliveryWorker(service.ctx);
atEnd(() => worker.stop());
const goodCertificate = issueCertificate({ hosts: ['127.0.0.1'] });

type OnRequest = (socket: TLSSocket) => void;

async function rawReceiver(onRequest: OnRequest, tls = goodCertificate): Promise<string> {
  const sockets = new Set<TLSSocket>();
  const server = createServer(tls, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', () => onRequest(socket));
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

interface Attempt {
  status: number | null;
  error: string | null;
  response: string | null;
  duration_ms: number;
}

/** What one attempt at this receiver comes to. */
async function attemptAt(url: string): Promise<Attempt & { state: string }> {
  const workspace = await service.workspace();
  const { body } = await workspace.request('POST', '/webhooks', { url, events: ['contact.created'] });
  await workspace.request('POST', '/contacts', { name: 'Ada' });
  return eventually(async () => {
    const list = await workspace.request('GET', `/webhooks/${body.data.id}/deliveries`);
    const one = await workspace.request('GET', `/deliveries/${list.body.data[0].id}`);
    const [attempt] = one.body.data.attempts as Attempt[];
    assert.ok(attempt, 'one attempt is recorded');
    return { ...attempt, state: one.body.data.state };
  });
}

function drip(text: string, everyMs: number): OnRequest {
  return (socket) => {
    let sent = 0;
    const timer = setInterval(() => {
      if (sent === text.length || socket.destroyed) return clearInterval(timer);
      socket.write(text[sent++]!);
    }, everyMs);
    socket.on('close', () => clearInterval(timer));
  };
}

const send =
  (text: string): OnRequest =>
  (socket) =>
    void socket.write(text);

test('a receiver that never answers is a timeout, and its slot is free after the deadline', async () => {
  const attempt = await attemptAt(await rawReceiver(() => {}));
  assert.equal(attempt.error, 'timeout');
  assert.equal(attempt.status, null);
  assert.ok(attempt.duration_ms >= timeoutMs - 50 && attempt.duration_ms < timeoutMs + 2_000);
});

test('a receiver that drips its headers byte by byte is a timeout', async () => {
  const attempt = await attemptAt(
    await rawReceiver(drip('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok', 50)),
  );
  assert.equal(attempt.error, 'timeout');
});

test('a 2xx status line in time is success, however slowly the body drips; what came is kept', async () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n';
  const attempt = await attemptAt(
    await rawReceiver((socket) => {
      socket.write(head);
      drip('x'.repeat(1000), 100)(socket);
    }),
  );
  assert.equal(attempt.error, null);
  assert.equal(attempt.state, 'delivered');
  assert.match(attempt.response ?? '', /^x{1,20}$/);
  assert.ok(attempt.duration_ms < timeoutMs + 2_000);
});

test('of an endless body 8 KiB are kept and the connection is cut', async () => {
  let closed = false;
  const attempt = await attemptAt(
    await rawReceiver((socket) => {
      socket.on('close', () => (closed = true));
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const more = () => {
        while (!socket.destroyed && socket.write(`1000\r\n${'y'.repeat(4096)}\r\n`));
        if (!socket.destroyed) socket.once('drain', more);
      };
      more();
    }),
  );
  assert.equal(attempt.state, 'delivered');
  assert.equal(attempt.response?.length, 8192);
  await eventually(() => assert.equal(closed, true));
});

test('a gzip bomb is not unpacked', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  const attempt = await attemptAt(
    await rawReceiver((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    }),
  );
  assert.equal(attempt.state, 'delivered');
  assert.ok((attempt.response?.length ?? 0) <= 8192);
});

test('a header of 1 MB and an answer that is not HTTP are protocol errors', async () => {
  const large = await attemptAt(
    await rawReceiver(send(`HTTP/1.1 200 OK\r\nx-large: ${'z'.repeat(1_000_000)}\r\n\r\n`)),
  );
  assert.equal(large.error, 'protocol');
  for (const answer of [
    'SSH-2.0-OpenSSH_9.9\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    'HTTP/1.1 099 Nothing\r\ncontent-length: 0\r\n\r\n',
  ]) {
    assert.equal((await attemptAt(await rawReceiver(send(answer)))).error, 'protocol', answer);
  }
});

test('informational answers are passed over, 304 is a failure', async () => {
  const early = 'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n';
  const hinted = await attemptAt(await rawReceiver(send(early)));
  assert.equal(hinted.status, 204);
  assert.equal(hinted.state, 'delivered');
  const notModified = await attemptAt(await rawReceiver(send('HTTP/1.1 304 Not Modified\r\n\r\n')));
  assert.equal(notModified.error, 'status');
});

test('a connection that is refused, reset or closed is a failure of its class', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  assert.equal((await attemptAt(`https://127.0.0.1:${port}/`)).error, 'refused');
  assert.equal((await attemptAt(await rawReceiver((socket) => void socket.destroy()))).error, 'connection');
});

test('an expired, a foreign and a self-signed certificate are failures; nothing is sent', async () => {
  let requests = 0;
  const count: OnRequest = () => void requests++;
  for (const certificate of [
    issueCertificate({ hosts: ['127.0.0.1'], ...expired() }),
    issueCertificate({ hosts: ['other.example.com'] }),
    createSelfSigned({ hosts: ['127.0.0.1'] }),
  ]) {
    assert.equal((await attemptAt(await rawReceiver(count, certificate))).error, 'tls');
  }
  assert.equal(requests, 0);
});

test('a name that leads to a private address after registration is blocked at the connection', async () => {
  let address = '93.184.215.14';
  const guarded = await startService({
    env: { INBOX_WEBHOOK_RETRY_SECONDS: '3600' },
    egress: { lookup: async () => [{ address }] },
  });
  const other = startDeliveryWorker(guarded.ctx);
  atEnd(() => other.stop());
  const workspace = await guarded.workspace();
  const { status, body } = await workspace.request('POST', '/webhooks', {
    url: 'https://moves.example.com/',
    events: ['contact.created'],
  });
  assert.equal(status, 201);
  address = '169.254.169.254';
  await workspace.request('POST', '/contacts', { name: 'Ada' });
  await eventually(async () => {
    const list = await workspace.request('GET', `/webhooks/${body.data.id}/deliveries`);
    const one = await workspace.request('GET', `/deliveries/${list.body.data[0].id}`);
    assert.equal(one.body.data.attempts[0]?.error, 'blocked_address');
    assert.ok(!one.text.includes('169.254'));
  });
});
