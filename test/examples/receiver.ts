import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after } from 'node:test';
import type { Config } from '../../server/config.ts';
import { createEgress, type Egress } from '../../server/egress/guard.ts';

/**
 * The receivers in the examples have names, and whoever is called by one is here: `down.example.com` answers 503,
 * every other takes what it is sent. No name is looked up and nothing leaves this machine.
 */
export async function startReceiver(config: Config): Promise<Egress> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const isDown = request.headers.host === 'down.example.com';
      response
        .writeHead(isDown ? 503 : 200, { 'content-type': 'text/plain' })
        .end(isDown ? 'Down for maintenance' : 'ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const guard = createEgress(config, { lookup: async () => [{ address: '93.184.215.14' }] });
  return {
    ...guard,
    connector: (_target, done) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => done(null, socket)).once('error', (error) => done(error, null));
    },
  };
}
