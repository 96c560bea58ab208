import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after } from 'node:test';
import type { Config } from '../../server/config.ts';
import { createEgress, type Egress } from '../../server/egress/guard.ts';

/**
 * The receivers in the examples have names, and whoever is called by one is here: `down.example.com` answers 503,
 * `graph.facebook.com` has a template and a photo, every other takes what it is sent. No name is looked up and nothing
 * leaves this machine.
 */
export async function startReceiver(config: Config): Promise<Egress> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      if (request.headers.host === 'graph.facebook.com') return answerAsPlatform(request.url ?? '', response);
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

function answerAsPlatform(path: string, response: ServerResponse): void {
  if (path === '/photo') {
    response.writeHead(200, { 'content-type': 'image/jpeg' }).end('a photo');
    return;
  }
  const template = {
    id: '594425479261596',
    name: 'order_shipped',
    language: 'en_US',
    category: 'UTILITY',
    status: 'APPROVED',
    components: [{ type: 'BODY', text: 'Hello {{1}}, your order {{2}} is on its way.' }],
  };
  const isList = path.includes('/message_templates');
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify(isList ? { data: [template] } : { url: 'https://graph.facebook.com/photo' }));
}
