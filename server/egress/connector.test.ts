import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { createServer as createTcpServer, type Server } from 'node:net';
import { after, test } from 'node:test';
import { TLSSocket } from 'node:tls';
import { Agent, errors, request } from 'undici';
import { type Certificate, createAuthority, createSelfSigned, expired } from '../../test/certificates.ts';
import { createEgress, type EgressOptions } from './guard.ts';
import type { Lookup } from './lookup.ts';

const authority = createAuthority();
const loopback = ['127.0.0.0/8'];
const says =
  (...addresses: string[]): Lookup =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address })));

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  after(() => server.close());
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}

/** Answers with what it saw: the name in the TLS greeting, and the Host header. */
function httpsServer(certificate: Certificate, options: ServerOptions = {}): Promise<number> {
  const server = createHttpsServer({ ...certificate, ...options }, (incoming, answer) => {
    const { socket } = incoming;
    assert.ok(socket instanceof TLSSocket);
    const { servername } = socket;
    answer.end(JSON.stringify({ servername, host: incoming.headers.host, protocol: socket.getProtocol() }));
  });
  return listen(server);
}

function agentOf(egressAllow: string[], options: EgressOptions): Agent {
  const egress = createEgress({ egressAllow, allowHttpWebhooks: true }, { ca: authority.cert, ...options });
  const agent = new Agent({ connect: egress.connector, connections: 1 });
  after(() => agent.destroy());
  return agent;
}

interface Seen {
  servername?: string | false;
  host?: string;
  protocol?: string;
}

async function call(dispatcher: Agent, url: string): Promise<Seen> {
  const { body } = await request(url, { dispatcher });
  const seen: Seen = JSON.parse(await body.text());
  return seen;
}

test('a name is reached at the checked address, with its own name in SNI and Host', async () => {
  const port = await httpsServer(authority.issue({ hosts: ['hook.test'] }));
  const agent = agentOf(loopback, { lookup: says('127.0.0.1') });
  assert.deepEqual(await call(agent, `https://hook.test:${port}/`), {
    servername: 'hook.test',
    host: `hook.test:${port}`,
    protocol: 'TLSv1.3',
  });
  const dotted = await call(agent, `https://hook.test.:${port}/`);
  assert.deepEqual([dotted.servername, dotted.host], ['hook.test', `hook.test.:${port}`]);
});

test('the loopback stays closed when the operator opened nothing, and no connection is made', async () => {
  let connections = 0;
  const port = await listen(createTcpServer(() => connections++));
  for (const host of ['hook.test', '127.0.0.1', '127.1', 'localhost', '[::ffff:127.0.0.1]']) {
    for (const scheme of ['https', 'http']) {
      const agent = agentOf([], { lookup: says('127.0.0.1') });
      await assert.rejects(call(agent, `${scheme}://${host}:${port}/`), { code: 'blocked_address' });
    }
  }
  assert.equal(connections, 0);
});

test('a literal address is verified as an address', async () => {
  const port = await httpsServer(authority.issue({ hosts: ['127.0.0.1'] }));
  const agent = agentOf(loopback, {});
  assert.equal((await call(agent, `https://127.0.0.1:${port}/`)).servername, false);
  const named = await httpsServer(authority.issue({ hosts: ['hook.test'] }));
  await assert.rejects(call(agent, `https://127.0.0.1:${named}/`), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
});

test('expired, wrong-name, self-signed and foreign certificates fail, whatever the environment says', async (t) => {
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  t.after(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']);
  const hosts = ['hook.test'];
  const bad: [string, Certificate][] = [
    ['CERT_HAS_EXPIRED', authority.issue({ hosts, ...expired() })],
    ['ERR_TLS_CERT_ALTNAME_INVALID', authority.issue({ hosts: ['other.test'] })],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', createSelfSigned({ hosts })],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', createAuthority('Somebody else').issue({ hosts })],
  ];
  for (const [code, certificate] of bad) {
    const port = await httpsServer(certificate);
    const agent = agentOf(loopback, { lookup: says('127.0.0.1') });
    for (const _ of ['first', 'again']) {
      await assert.rejects(call(agent, `https://hook.test:${port}/`), { code, stage: 'tls' });
    }
  }
});

test('TLS 1.2 is enough, TLS 1.1 is not', async () => {
  const certificate = authority.issue({ hosts: ['hook.test'] });
  const agent = agentOf(loopback, { lookup: says('127.0.0.1') });
  const port = await httpsServer(certificate, { maxVersion: 'TLSv1.2' });
  assert.equal((await call(agent, `https://hook.test:${port}/`)).protocol, 'TLSv1.2');
  const old = await httpsServer(certificate, {
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  });
  await assert.rejects(call(agent, `https://hook.test:${old}/`), { stage: 'tls' });
});

test('an answer that turns private after registration is refused at the next connection', async () => {
  const port = await httpsServer(authority.issue({ hosts: ['hook.test'] }));
  let address = '8.8.8.8';
  const lookup: Lookup = () => Promise.resolve([{ address }]);
  const egress = createEgress(
    { egressAllow: ['127.0.0.1/32'], allowHttpWebhooks: false },
    { lookup, ca: authority.cert },
  );
  const url = (await egress.checkUrl('url', `https://hook.test:${port}/`)).href;
  const agent = new Agent({ connect: egress.connector, pipelining: 0 }); // no socket is used twice
  after(() => agent.destroy());
  address = '127.0.0.1';
  await call(agent, url);
  address = '127.0.0.2';
  await assert.rejects(call(agent, url), { code: 'blocked_address' });
  address = '169.254.169.254';
  await assert.rejects(call(agent, url), { code: 'blocked_address' });
});

test('a pooled socket stays with the address that was checked when DNS changes', async () => {
  const port = await httpsServer(authority.issue({ hosts: ['hook.test'] }));
  const asked: string[] = [];
  const agent = agentOf(['127.0.0.1/32'], {
    lookup: (name) => {
      asked.push(name);
      return Promise.resolve([{ address: asked.length === 1 ? '127.0.0.1' : '10.0.0.1' }]);
    },
  });
  await call(agent, `https://hook.test:${port}/`);
  await call(agent, `https://hook.test:${port}/`);
  assert.deepEqual(asked, ['hook.test']);
});

test('a redirect to a metadata address is handed back, not followed', async () => {
  const port = await listen(
    createHttpServer((_, answer) => answer.writeHead(302, { location: 'http://169.254.169.254/' }).end()),
  );
  const dispatcher = agentOf(loopback, {});
  const { statusCode, body } = await request(`http://127.0.0.1:${port}/`, { dispatcher });
  await body.dump();
  assert.equal(statusCode, 302);
});

test('a dead first address does not stop the second', async () => {
  const port = await listen(createHttpServer((_, answer) => answer.end('{"host":"here"}')));
  const agent = agentOf(loopback, { lookup: says('127.0.0.2', '127.0.0.1') });
  assert.deepEqual(await call(agent, `http://hook.test:${port}/`), { host: 'here' });
});

test('localhost works where the operator opened one of the loopbacks', async () => {
  const port = await listen(createHttpServer((_, answer) => answer.end('{"host":"here"}')));
  const agent = agentOf(loopback, { lookup: () => assert.fail('DNS was asked') });
  assert.deepEqual(await call(agent, `http://localhost:${port}/`), { host: 'here' });
});

test('a peer that refuses, hangs up or says nothing fails the request in time, with its own code', async () => {
  const lookup = says('127.0.0.1');
  const hangsUp = await listen(createTcpServer((socket) => socket.resetAndDestroy()));
  await assert.rejects(call(agentOf(loopback, { lookup }), `https://hook.test:${hangsUp}/`), {
    code: 'ECONNRESET',
  });

  const rubbish = await listen(
    createTcpServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad\r\n\r\n')),
  );
  await assert.rejects(call(agentOf(loopback, { lookup }), `https://hook.test:${rubbish}/`), {
    stage: 'tls',
  });

  const silent = createTcpServer((socket) => socket.on('error', () => {}));
  const silentPort = await listen(silent);
  const impatient = agentOf(loopback, { lookup, connectTimeoutMs: 300 });
  await assert.rejects(call(impatient, `https://hook.test:${silentPort}/`), errors.ConnectTimeoutError);

  const gone = createTcpServer();
  const gonePort = await listen(gone);
  gone.close();
  await assert.rejects(call(agentOf(loopback, { lookup }), `https://hook.test:${gonePort}/`), {
    code: 'ECONNREFUSED',
  });

  const mute = agentOf(loopback, { lookup: () => new Promise(() => {}), connectTimeoutMs: 300 });
  await assert.rejects(call(mute, 'https://hook.test/'), errors.ConnectTimeoutError);
});

test('a proxy in the environment is not used', async (t) => {
  const proxied = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
  for (const name of proxied) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : 'http://127.0.0.1:1';
  t.after(() => proxied.forEach((name) => delete process.env[name]));
  const port = await httpsServer(authority.issue({ hosts: ['hook.test'] }));
  const answer = await call(agentOf(loopback, { lookup: says('127.0.0.1') }), `https://hook.test:${port}/`);
  assert.equal(answer.servername, 'hook.test');
});
