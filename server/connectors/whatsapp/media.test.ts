import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import type { CustomerMessage } from '../../../emulator/whatsapp/customer.ts';
import { assertError, create, type Data, messagesOf } from '../../../test/factory.ts';
import { atEnd, startService } from '../../../test/harness.ts';
import { eventually } from '../../../test/receiver.ts';
import { conversationWith, emulatorEnv, makeWhatsapp, newCustomer } from '../../../test/whatsapp.ts';

const service = await startService({ env: emulatorEnv });
const ws = await service.workspace();
const other = await service.workspace();
const { emulator } = await makeWhatsapp(service, ws);

/** A platform that gives its media as a test says. */
let give = (response: ServerResponse): unknown => response.end();
const slow = createServer((request, response) => {
  if (request.url?.endsWith('/bytes')) give(response);
  else response.end(JSON.stringify({ url: `http://${request.headers.host}/bytes` }));
}).listen(0, '127.0.0.1');
await once(slow, 'listening');
atEnd(async () => {
  slow.closeAllConnections();
  slow.close();
});
const slowChannel = await create(ws, '/channels', {
  type: 'whatsapp',
  name: 'Slow',
  settings: {
    ...emulator.channelSettings,
    api_base_url: `http://127.0.0.1:${(slow.address() as AddressInfo).port}/v1`,
  },
});

async function receive(message: Omit<CustomerMessage, 'from'>): Promise<Data> {
  const from = newCustomer();
  await emulator.customerSends({ from, ...message });
  const [received] = await messagesOf(ws, (await conversationWith(ws, `+${from}`)).id);
  return received;
}

async function receiveSlow(): Promise<string> {
  const url = emulator.settings.webhookUrl;
  emulator.setWebhookUrl(`${service.baseUrl}/channels/${slowChannel.id}/webhook`);
  const { attachments } = await receive({ image: { bytes: Buffer.from('x'), mime: 'image/png' } });
  emulator.setWebhookUrl(url);
  return attachments[0].url;
}

const open = (url: string, key = ws.key, signal?: AbortSignal) =>
  fetch(url, { headers: { authorization: `Bearer ${key}` }, ...(signal && { signal }) });

for (const [type, mime, name] of [
  ['image', 'image/jpeg', 'image.jpg'],
  ['audio', 'audio/ogg; codecs=opus', 'audio.ogg'],
  ['video', 'video/mp4', 'video.mp4'],
  ['sticker', 'image/webp', 'sticker.webp'],
] as const) {
  test(`${type}: an attachment whose URL, on this service, gives the bytes under their type`, async () => {
    const bytes = Buffer.from(`${type} \u0000\u{1F98A}`);
    const { content, attachments } = await receive({ [type]: { bytes, mime } });
    assert.equal(content, '');
    const [{ url, ...attachment }, ...more] = attachments;
    assert.deepEqual(more, []);
    assert.deepEqual(attachment, { content_type: mime, file_name: name });
    assert.match(url, new RegExp(`^${service.baseUrl}/media/med_[0-9a-z]{26}$`));
    const answer = await open(url);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), mime);
    assert.equal(answer.headers.get('content-length'), String(bytes.length));
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes);
  });
}

test('a document keeps its name and its caption', async () => {
  const filename = "Maria's (März) *.pdf";
  const { content, attachments } = await receive({
    document: { bytes: Buffer.from('%PDF'), mime: 'application/pdf', filename, caption: 'My order' },
  });
  assert.equal(content, 'My order');
  assert.equal(attachments[0].file_name, filename);
  const answer = await open(attachments[0].url);
  assert.equal(
    answer.headers.get('content-disposition'),
    "attachment; filename*=UTF-8''Maria%27s%20%28M%C3%A4rz%29%20%2A.pdf",
  );
  await answer.body?.cancel();
});

test('media opens to a key of its workspace that may read messages, and to nobody else', async () => {
  const { attachments } = await receive({ image: { bytes: Buffer.from('secret'), mime: 'image/png' } });
  const { url } = attachments[0];
  for (const [key, status] of [
    [other.key, 404],
    [await ws.makeKey({ scopes: ['conversations:read'] }), 403],
    ['nonsense', 401],
  ] as const) {
    const answer = await open(url, key);
    assert.equal(answer.status, status);
    assert.doesNotMatch(await answer.text(), /secret/);
  }
  assertError(await ws.request('GET', '/media/med_nonsense'), 404);
});

test('media that the platform no longer has is not found', async () => {
  const { attachments } = await receive({ image: { bytes: Buffer.from('x'), mime: 'image/png' } });
  emulator.media.clear();
  const answer = await open(attachments[0].url);
  assert.equal(answer.status, 404);
  assert.match(await answer.text(), /no longer gives this media/);
});

test('the bytes flow while the platform still sends: nothing is gathered first', async () => {
  const url = await receiveSlow();
  const rest = Promise.withResolvers<void>();
  give = async (response) => {
    response.writeHead(200, { 'content-type': 'video/mp4' });
    response.write('first');
    await rest.promise;
    response.end(' last');
  };
  const answer = await open(url);
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  assert.equal((await reader.read()).value, 'first');
  rest.resolve();
  assert.equal((await reader.read()).value, ' last');
  assert.equal((await reader.read()).done, true);
});

test('a reader who is slow, or goes away, does not make the service read on', async () => {
  const url = await receiveSlow();
  let written = 0;
  let closed = false;
  give = (response) => {
    response.writeHead(200, { 'content-type': 'video/mp4' });
    response.on('close', () => (closed = true));
    const chunk = Buffer.alloc(1024 * 1024);
    const write = () => {
      while (!closed && written < 500 && (written++, response.write(chunk)));
    };
    response.on('drain', write);
    write();
  };
  const leaving = new AbortController();
  const answer = await open(url, ws.key, leaving.signal);
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.ok(written < 60, `${written} MB were read ahead`);
  leaving.abort();
  await answer.arrayBuffer().catch(() => {});
  await eventually(() => assert.ok(closed, 'the platform is let go'));
});

test('a platform that breaks off breaks the answer off: half a file is not taken for a whole one', async () => {
  const url = await receiveSlow();
  give = (response) => {
    response.writeHead(200, { 'content-type': 'video/mp4' });
    response.write('half', () => response.destroy());
  };
  const answer = await open(url);
  await assert.rejects(answer.arrayBuffer());
});

test('a service with a public URL gives that one to its readers', async () => {
  const known = await startService({
    url: service.databaseUrl,
    env: { ...emulatorEnv, INBOX_PUBLIC_URL: 'https://inbox.example.com' },
  });
  const url = emulator.settings.webhookUrl;
  emulator.setWebhookUrl(url!.replace(service.baseUrl, known.baseUrl));
  const { attachments } = await receive({ image: { bytes: Buffer.from('x'), mime: 'image/png' } });
  emulator.setWebhookUrl(url);
  assert.match(attachments[0].url, /^https:\/\/inbox\.example\.com\/v1\/media\/med_/);
});
