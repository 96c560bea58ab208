import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type Data, dataOf, eventually, makeChannel } from './factory.ts';
import type { Answer, Service, Workspace } from './harness.ts';

/** Speaks to a webchat channel as a visitor's browser does. */
export interface VisitorClient {
  token: string;
  send(content: string, externalId?: string): Promise<Answer>;
  history(query?: string): Promise<Data>;
  stream(cursor?: string): Promise<Stream>;
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

export const makeWebchat = (ws: Workspace, settings: object = {}, fields: object = {}) =>
  makeChannel(ws, { type: 'webchat', name: 'Site', settings, ...fields });

export function openSession(service: Service, channelId: string, body: object = {}): Promise<Answer> {
  return service.request('POST', `/channels/${channelId}/webchat/session`, body);
}

export async function visit(service: Service, channelId: string, body: object = {}): Promise<VisitorClient> {
  const { token } = dataOf(await openSession(service, channelId, body), 201);
  return visitorWith(service, channelId, token);
}

export function visitorWith(service: Service, channelId: string, token: string): VisitorClient {
  const request: VisitorClient['request'] = (method, path, body, headers = {}) =>
    service.request(method, `/channels/${channelId}/webchat${path}`, body, { key: token, headers });
  return {
    token,
    request,
    send: (content, externalId) =>
      request('POST', '/messages', { content, ...(externalId !== undefined && { external_id: externalId }) }),
    history: async (query = '') => dataOf(await request('GET', `/messages${query}`), 200),
    stream: (cursor = '') =>
      openStream(`${service.baseUrl}/channels/${channelId}/webchat/events`, {
        authorization: `Bearer ${token}`,
        ...(cursor !== '' && { 'last-event-id': cursor }),
      }),
  };
}

export interface Stream {
  /** What has come so far. */
  messages: Data[];
  /** After the last message that has come. */
  cursor(): string;
  /** Waits until so many messages have come. */
  received(count: number): Promise<Data[]>;
  /** Resolves once the server has ended it. */
  ended: Promise<void>;
  close(): void;
}

async function openStream(url: string, headers: Record<string, string>): Promise<Stream> {
  const controller = new AbortController();
  const response = await fetch(url, { headers, signal: controller.signal });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const messages: Data[] = [];
  let cursor = headers['last-event-id'] ?? '';
  const reading = async () => {
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const [, id, data] = /^id: (.*)\nevent: message\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
        text = text.slice(end + 2);
        if (id === undefined || data === undefined) continue;
        messages.push(JSON.parse(data));
        cursor = id;
      }
    }
  };
  const ended = reading().catch((error: unknown) => {
    if (!controller.signal.aborted) throw error;
  });
  return {
    messages,
    cursor: () => cursor,
    received: (count) =>
      eventually(
        5_000,
        async () => messages,
        ({ length }) => length >= count,
      ),
    ended,
    close: () => controller.abort(),
  };
}

/** As the site's own server makes it. */
export const identityHash = (userId: string, secret: string): string =>
  createHmac('sha256', secret).update(userId).digest('hex');
