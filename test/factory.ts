import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { connect } from 'node:net';
import type { Answer, Client, Service, Workspace } from './harness.ts';

/** Makes things as a client makes them: over HTTP. What comes back is `data` of the answer. */

// Tests look into answers freely, as in the harness.
// oxlint-disable-next-line typescript/no-explicit-any
export type Data = any;
type Fields = Record<string, unknown>;
type Caller = Pick<Workspace, 'request'>;

export async function create(ws: Caller, path: string, body: unknown): Promise<Data> {
  return dataOf(await ws.request('POST', path, body), 201);
}

export async function read(ws: Caller, path: string): Promise<Data> {
  return dataOf(await ws.request('GET', path), 200);
}

export function dataOf(answer: Answer, status: number): Data {
  assert.equal(answer.status, status, answer.text.slice(0, 500));
  return answer.body.data;
}

export const makeContact = (ws: Caller, fields: Fields = {}) =>
  create(ws, '/contacts', { name: 'Ada Lovelace', ...fields });

export const makeChannel = (ws: Caller, fields: Fields = {}) =>
  create(ws, '/channels', { type: 'api', name: 'Shop', ...fields });

export const makeAgent = (ws: Caller, fields: Fields = {}) =>
  create(ws, '/agents', { name: 'Grace Hopper', ...fields });

export const makeTeam = (ws: Caller, fields: Fields = {}) =>
  create(ws, '/teams', { name: 'Support', ...fields });

export const makeTemplate = (ws: Caller, fields: Fields = {}) =>
  create(ws, '/templates', { name: 'greeting', body: 'Hello {{name}}', ...fields });

export const makeApiKey = (ws: Caller, fields: Fields = {}) =>
  create(ws, '/api_keys', { name: 'Second key', ...fields });

/** A public address that no name service has to be asked for; nothing in these tests sends to it. */
export const webhookUrl = 'https://93.184.215.14/hook';

export const makeWebhook = (ws: Caller, fields: Fields = {}) =>
  create(ws, '/webhooks', { url: webhookUrl, events: ['message.created'], ...fields });

/** With a contact and a channel of its own, unless they are given. */
export async function makeConversation(ws: Caller, fields: Fields = {}): Promise<Data> {
  const contact_id = fields['contact_id'] ?? (await makeContact(ws)).id;
  const channel_id = fields['channel_id'] ?? (await makeChannel(ws)).id;
  return create(ws, '/conversations', { ...fields, contact_id, channel_id });
}

export const sendMessage = (ws: Caller, conversationId: string, body: unknown) =>
  create(ws, `/conversations/${conversationId}/messages`, body);

/** A customer's message enters over the channel. */
export const receive = (ws: Caller, channelId: string, body: Fields) =>
  create(ws, `/channels/${channelId}/inbound`, { content: 'Hi', ...body });

export async function patchConversation(ws: Caller, id: string, body: unknown): Promise<Data> {
  return dataOf(await ws.request('PATCH', `/conversations/${id}`, body), 200);
}

export const messagesOf = (ws: Caller, conversationId: string): Promise<Data[]> =>
  read(ws, `/conversations/${conversationId}/messages?per_page=100`);

export async function activitiesOf(ws: Caller, conversationId: string): Promise<Data[]> {
  return (await messagesOf(ws, conversationId)).filter(({ type }) => type === 'activity');
}

/** The bodies of the events a workspace has raised, in the order they were written, as they would be sent. */
export async function eventsOf(service: Service, ws: Workspace, type?: string): Promise<Data[]> {
  const rows = await service.sql<{ body: string }>(
    `select body from events where workspace_id = $1 and ($2::text is null or type = $2) order by created_at, ctid`,
    [ws.uuid, type ?? null],
  );
  return rows.map(({ body }) => JSON.parse(body));
}

/** What was raised while `work` ran. */
export async function eventsDuring(
  service: Service,
  ws: Workspace,
  work: () => Promise<unknown>,
): Promise<Data[]> {
  const before = new Set((await eventsOf(service, ws)).map(({ id }) => id));
  await work();
  return (await eventsOf(service, ws)).filter(({ id }) => !before.has(id));
}

export const codes: Record<number, string> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  422: 'validation_error',
  429: 'rate_limited',
  500: 'server_error',
};

/** The error a client sees has the documented shape and this status; `field` is among its details. */
export function assertError(answer: Answer, status: number, field?: string): Data {
  assert.equal(answer.status, status, answer.text.slice(0, 500));
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assert.deepEqual(Object.keys(answer.body), ['error']);
  const { error } = answer.body;
  assert.equal(error.code, codes[status]);
  assert.equal(error.status, status);
  assert.equal(typeof error.message, 'string');
  assert.notEqual(error.message, '');
  if (field !== undefined) {
    const fields = (error.details ?? []).map((detail: { field: string }) => detail.field);
    assert.ok(fields.includes(field), `details of ${answer.text} name ${field}`);
  }
  return error;
}

export const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** Runs the work for each item, `width` at a time. */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T, place: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async () => {
    for (let place = next++; place < items.length; place = next++) {
      results[place] = await work(items[place]!, place);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return results;
}

/** Asks again until the answer is wanted, for at most `withinMs`. */
export async function eventually<T>(
  withinMs: number,
  ask: () => Promise<T>,
  wanted: (answer: T) => boolean,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    assert.ok(performance.now() < deadline, `not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Bytes straight onto a socket; the answer as text once the server has closed it. */
export function sendRaw(origin: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(5_000, () => socket.destroy(new Error('the server did not answer')));
    socket.on('data', (chunk) => (answer += chunk.toString('utf8')));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

export interface Route {
  method: string;
  path: string;
  scope: string | undefined;
  isPublic: boolean;
}

interface RegisteredRoute {
  method: string | string[];
  url: string;
  config?: { scope?: string; public?: boolean };
}

/** Every route of the servers started after this call, as Fastify itself registers them. */
export function collectRoutes(): Route[] {
  const routes: Route[] = [];
  subscribe('fastify.initialization', (message) => {
    const { fastify } = message as {
      fastify: { addHook(name: 'onRoute', hook: (route: RegisteredRoute) => void): void };
    };
    fastify.addHook('onRoute', ({ method, url, config }) => {
      for (const one of [method].flat()) {
        routes.push({
          method: one,
          path: url,
          scope: config?.scope,
          isPublic: config?.public === true,
        });
      }
    });
  });
  return routes;
}

/** A client that spreads its requests over several, for more than one key's share of requests. */
export function roundRobin(clients: readonly Client[]): Client {
  let turn = 0;
  return (...request) => clients[turn++ % clients.length]!(...request);
}
