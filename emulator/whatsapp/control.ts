import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type CustomerFile, type CustomerMessage, customersSend } from './customer.ts';
import type { Failure } from './faults.ts';
import type { Platform } from './graph.ts';
import { parseObject, readBody, sendJson } from './http.ts';
import { snapshot } from './snapshot.ts';
import { changed, closeWindow, type Media, type Template } from './store.ts';
import type { Templates } from './templates.ts';
import type { Webhooks } from './webhooks.ts';

export interface Controlled extends Platform {
  webhooks: Webhooks;
  templates: Templates;
}

/** The page at `/` and what its buttons call, below `/_emulator/`. */
export async function serveControl(
  platform: Controlled,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const path = url.pathname;
  const asset = Object.hasOwn(assets, path) ? assets[path] : undefined;
  const media = path.startsWith(mediaPath) && platform.store.media.get(path.slice(mediaPath.length));
  const name = path.slice('/_emulator/'.length);
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (request.method === 'GET' && asset) await sendAsset(response, asset);
  else if (request.method === 'GET' && path === '/_emulator/state')
    sendJson(response, 200, snapshot(platform));
  else if (request.method === 'GET' && path === '/_emulator/events') streamSnapshots(platform, response);
  else if (request.method === 'GET' && media) sendMedia(response, media);
  else if (request.method === 'POST' && action) await act(platform, action, request, response);
  else sendJson(response, 404, { error: `the emulator has no ${request.method} ${path}` });
}

type Action = (platform: Controlled, input: never) => unknown;

const actions: Record<string, Action> = {
  async customer_messages({ store, webhooks }, input: Omit<CustomerMessage, FileType> & EncodedFiles) {
    const [id] = await customersSend(store, webhooks, [decodeFiles(input)]);
    return { id };
  },
  read: ({ statuses }, { id }: { id: string }) => statuses.markRead(id),
  fail: ({ statuses }, { id, code }: { id: string; code: number }) => statuses.fail(id, code),
  fail_next: ({ faults }, failure: Failure) => faults.failNext(failure),
  delay_next: ({ faults }, { ms }: { ms: number }) => faults.delayNext(ms),
  drop_answer_next: ({ faults }) => faults.dropAnswerNext(),
  clear_faults: ({ faults }) => faults.clear(),
  close_window: ({ store }, { customer }: { customer: string }) => closeWindow(store, customer),
  behaviour({ store }, changes: Partial<Controlled['store']['behaviour']>) {
    Object.assign(store.behaviour, changes);
  },
  template: ({ templates }, { name, language, status }: Pick<Template, 'name' | 'language' | 'status'>) =>
    templates.change(name, language, { status }),
  webhook_url({ store }, { url }: { url: string }) {
    store.settings.webhookUrl = url === '' ? null : new URL(url).href;
  },
  handshake: async ({ webhooks }) => ({ verified: await webhooks.handshake() }),
};

async function act(
  platform: Controlled,
  action: Action,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // Another site's page may send a form or plain text here, but not this.
  if (request.headers['content-type'] !== 'application/json') {
    sendJson(response, 415, { error: 'send application/json' });
    return;
  }
  const input = parseObject(await readBody(request)) ?? {};
  try {
    const answer = await action(platform, input as never);
    changed(platform.store);
    sendJson(response, 200, answer ?? {});
  } catch (error) {
    sendJson(response, 400, { error: error instanceof Error ? error.message : String(error) });
  }
}

type FileType = 'image' | 'audio' | 'video' | 'document' | 'sticker';
type EncodedFiles = Partial<Record<FileType, Omit<CustomerFile, 'bytes'> & { base64: string }>>;

function decodeFiles(input: Omit<CustomerMessage, FileType> & EncodedFiles): CustomerMessage {
  const { image, audio, video, document, sticker, ...message } = input;
  const files = Object.entries({ image, audio, video, document, sticker }).flatMap(([type, file]) =>
    file ? [[type, { ...file, bytes: Buffer.from(file.base64, 'base64') }]] : [],
  );
  return { ...message, ...Object.fromEntries(files) } as CustomerMessage;
}

/** The whole state after each change; a person's session is small. */
function streamSnapshots(platform: Controlled, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  let isWaiting = false;
  const write = () => {
    isWaiting = false;
    response.write(`data: ${JSON.stringify(snapshot(platform))}\n\n`);
  };
  const onChange = () => {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(write, 30).unref();
  };
  write();
  platform.store.changes.on('change', onChange);
  response.on('close', () => platform.store.changes.off('change', onChange));
}

const assets: Record<string, { file: string; type: string }> = {
  '/': { file: 'page.html', type: 'text/html' },
  '/_emulator/page.css': { file: 'page.css', type: 'text/css' },
  '/_emulator/page.js': { file: 'page.js', type: 'text/javascript' },
};

const pagePolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "media-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

async function sendAsset(response: ServerResponse, { file, type }: { file: string; type: string }) {
  const bytes = await readFile(join(import.meta.dirname, 'page', file));
  response.writeHead(200, {
    'content-type': `${type}; charset=utf-8`,
    'content-security-policy': pagePolicy,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache',
  });
  response.end(bytes);
}

const mediaPath = '/_emulator/media/';

/** A file a customer or the business sent may be a page with a script in it. */
function sendMedia(response: ServerResponse, media: Media): void {
  response.writeHead(200, {
    'content-type': media.mime,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  });
  response.end(media.bytes);
}
