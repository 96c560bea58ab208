import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { assertError, type Data, messagesOf, sendMessage } from '../../../test/factory.ts';
import { atEnd } from '../../../test/harness.ts';
import { eventually } from '../../../test/receiver.ts';
import { conversationWith, makeWhatsapp, newCustomer, startSendingService } from '../../../test/whatsapp.ts';

/** Where the files lie; each path behaves as its test says. */
const paths: Record<string, (response: ServerResponse) => unknown> = {};
const files = createServer((request, response) => {
  const behave = paths[request.url ?? ''];
  if (behave) behave(response);
  else response.writeHead(404).end();
}).listen(0, '127.0.0.1');
await once(files, 'listening');
atEnd(async () => {
  files.closeAllConnections();
  files.close();
});
const { port } = files.address() as AddressInfo;

/** Public when it is asked for first, which is at POST; private afterwards. */
let timesMoved = 0;
const addresses: Record<string, () => string> = {
  'files.example': () => '127.0.0.1',
  'private.example': () => '10.0.0.7',
  'moved.example': () => (timesMoved++ === 0 ? '93.184.215.14' : '10.0.0.7'),
};
const lookup = async (name: string) => [{ address: addresses[name]!() }];
const service = await startSendingService({ egress: { lookup } });
const ws = await service.workspace();
const { emulator } = await makeWhatsapp(service, ws, { statuses: 'off' });
const from = newCustomer();
await emulator.customerSends({ from, text: 'Hi' });
const { id: conversation } = await conversationWith(ws, `+${from}`);

const file = (path: string, content_type: string, file_name = 'file') => ({
  url: `http://files.example:${port}${path}`,
  content_type,
  file_name,
});
const serve = (path: string, type: string, body: string | Buffer) => {
  paths[path] = (response) => response.writeHead(200, { 'content-type': type }).end(body);
};

async function sent(body: Data): Promise<Data> {
  const { id } = await sendMessage(ws, conversation, body);
  return eventually(async () => {
    const message = (await messagesOf(ws, conversation)).find((one) => one.id === id);
    assert.notEqual(message.status, 'queued');
    return message;
  });
}

const refuse = async (attachments: Data[], field: string) =>
  assertError(
    await ws.request('POST', `/conversations/${conversation}/messages`, { attachments }),
    422,
    field,
  );

for (const [type, kind] of Object.entries({
  'image/png': 'image',
  'video/mp4': 'video',
  'audio/ogg': 'audio',
  'application/pdf': 'document',
  'text/plain; charset=utf-8': 'document',
})) {
  test(`${type} is fetched, uploaded and sent as ${kind}, byte for byte`, async () => {
    const bytes = Buffer.from(`${kind}\u0000\r\n--boundary\r\n\u{1F98A}`);
    serve('/file', type, bytes);
    const caption = kind === 'audio' ? {} : { content: 'See \u{1F98A}' };
    const name = 'Rechnung "März"\\.bin';
    const message = await sent({ ...caption, attachments: [file('/file', type, name)] });
    assert.equal(message.status, 'sent', message.error);
    const { body } = emulator.sent.at(-1)!;
    const { id, ...rest } = body[kind] as Data;
    assert.equal(body.type, kind);
    assert.deepEqual(rest, {
      ...(kind !== 'audio' && { caption: 'See \u{1F98A}' }),
      ...(kind === 'document' && { filename: name }),
    });
    assert.deepEqual(emulator.media.get(id)!.bytes, bytes);
    assert.equal(emulator.media.get(id)!.mime, type.split(';')[0]);
  });
}

test('text beside audio, and more than 1,024 characters beside a picture, answer 422', async () => {
  const path = `/conversations/${conversation}/messages`;
  const voice = { content: 'Listen', attachments: [file('/voice', 'audio/ogg')] };
  assertError(await ws.request('POST', path, voice), 422, 'content');
  const picture = { content: 'x'.repeat(1_025), attachments: [file('/picture', 'image/png')] };
  assertError(await ws.request('POST', path, picture), 422, 'content');
});

test('an address that is not public is refused at once', async () => {
  for (const url of ['http://private.example/x', 'http://169.254.169.254/latest', 'http://[::1]/x']) {
    await refuse([{ ...file('/', 'image/png'), url }], 'attachments.0.url');
  }
});

test('a name that leads to another address by the time it is sent fails the message', async () => {
  const attachment = { ...file('/', 'image/png'), url: 'http://moved.example/x' };
  const { status, error } = await sent({ attachments: [attachment] });
  assert.equal(status, 'failed');
  assert.equal(error, 'The attachment lies at an address that is not public.');
});

test('what is more than one file, or of a type WhatsApp does not take, is refused at once', async () => {
  await refuse([file('/a', 'image/png'), file('/b', 'image/png')], 'attachments');
  await refuse([file('/a', 'image/svg+xml')], 'attachments.0.content_type');
  await refuse([file('/a', '')], 'attachments.0.content_type');
});

for (const [what, path, behave, reason] of [
  ['a file that is not there', '/gone', undefined, /its URL answered 404/],
  ['a redirect', '/moved', (r) => r.writeHead(302, { location: '/file' }).end(), /its URL answered 302/],
  [
    'a page instead of an image',
    '/page',
    (r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    /The attachment is text\/html, not image\/png/,
  ],
  [
    'more than 16 MB',
    '/huge',
    (r) => r.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(16 * 1024 * 1024 + 1)),
    /larger than 16 MB/,
  ],
] as [string, string, ((response: ServerResponse) => unknown) | undefined, RegExp][]) {
  test(`${what} fails the message, and says why`, async () => {
    if (behave) paths[path] = behave;
    const before = emulator.sent.length;
    const { status, error } = await sent({ attachments: [file(path, 'image/png')] });
    assert.equal(status, 'failed');
    assert.match(error, reason);
    assert.equal(emulator.sent.length, before);
  });
}

test('a file that never ends is not read to its end', async () => {
  let written = 0;
  let closed = false;
  paths['/endless'] = (response) => {
    response.writeHead(200, { 'content-type': 'image/png' });
    response.on('close', () => (closed = true));
    const chunk = Buffer.alloc(1024 * 1024);
    const write = () => {
      while (!closed && written < 200 && (written++, response.write(chunk)));
    };
    response.on('drain', write);
    write();
  };
  const { error } = await sent({ attachments: [file('/endless', 'image/png')] });
  assert.match(error, /larger than 16 MB/);
  await eventually(() => assert.ok(closed));
  assert.ok(written < 40, `${written} MB were written`);
});

test('a server that is down for a moment is asked again', async () => {
  let times = 0;
  paths['/later'] = (response) => {
    times += 1;
    if (times === 1) response.writeHead(503).end();
    else if (times === 2) response.destroy();
    else response.writeHead(200, { 'content-type': 'application/octet-stream' }).end('ok');
  };
  assert.equal((await sent({ attachments: [file('/later', 'image/png')] })).status, 'sent');
  assert.equal(times, 3);
});

test('what Meta does not take fails with Meta’s reason, and what it takes later is uploaded again', async () => {
  serve('/large', 'image/png', Buffer.alloc(6 * 1024 * 1024));
  const { status, error } = await sent({ attachments: [file('/large', 'image/png')] });
  assert.equal(status, 'failed');
  assert.match(error, /^WhatsApp could not take the media\. \(Meta 131053: The file is larger than 5 MB/);
  serve('/small', 'image/png', 'x');
  emulator.dropAnswerNext({ on: 'media' });
  assert.equal((await sent({ attachments: [file('/small', 'image/png')] })).status, 'sent');
});
