import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { GraphError, unknownObject } from './errors.ts';
import type { Endpoint, Fault, Faults } from './faults.ts';
import { parseObject, readBody, sendJson } from './http.ts';
import type { Lifetime } from './lifetime.ts';
import { deleteMedia, describeMedia, downloadMedia, downloadPath, uploadMedia } from './media.ts';
import { postMessage } from './messages.ts';
import type { Statuses } from './statuses.ts';
import { changed, type GraphRequest, type Store } from './store.ts';
import { listTemplates } from './templates.ts';

export interface Platform {
  store: Store;
  faults: Faults;
  statuses: Statuses;
  lifetime: Lifetime;
}

/** A value is sent as JSON, bytes as they are. */
type Answer = Record<string, unknown> | { bytes: Buffer; mime: string };

interface Call {
  method: string;
  url: URL;
  headers: IncomingMessage['headers'];
  bytes: Buffer;
  /** The name the client knows this server by, so that the addresses it gets work from where it is. */
  origin: string;
}

interface Route {
  endpoint: Endpoint;
  answer(): Answer | Promise<Answer>;
}

export async function serveGraph(
  platform: Platform,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const bytes = await readBody(request);
  const scheme = request.socket instanceof TLSSocket ? 'https' : 'http';
  const origin = `${scheme}://${request.headers.host}`;
  const call: Call = { method: request.method ?? 'GET', url, headers: request.headers, bytes, origin };
  const seen: GraphRequest = {
    at: new Date(),
    method: call.method,
    path: `${url.pathname}${url.search}`,
    headers: call.headers,
    body: parseObject(bytes),
    status: null,
  };
  platform.store.requests.push(seen);
  response.once('finish', () => {
    seen.status = response.statusCode;
    changed(platform.store);
  });
  try {
    authorise(platform.store, call);
    const route = routeOf(platform, call);
    await suffer(platform, platform.faults.take(route.endpoint), route, response);
  } catch (error) {
    if (!(error instanceof GraphError)) throw error;
    sendJson(response, error.httpStatus, error.body, error.headers);
  }
}

function authorise({ settings }: Store, { headers, url }: Call): void {
  const token = headers.authorization?.match(/^Bearer (.+)$/i)?.[1] ?? url.searchParams.get('access_token');
  if (token === settings.accessToken) return;
  if (token === null)
    throw new GraphError(190, { message: 'An access token is required to request this resource.' });
  throw new GraphError(190, { message: 'Invalid OAuth access token - Cannot parse access token' });
}

function routeOf(platform: Platform, call: Call): Route {
  const { store } = platform;
  const { settings } = store;
  if (call.url.pathname === downloadPath)
    return { endpoint: 'media', answer: () => downloadMedia(store, call.url.searchParams) };
  const [, id = '', edge = ''] =
    call.url.pathname.match(/^(?:\/v\d+\.\d+)?\/([^/]+)(?:\/([^/]+))?\/?$/) ?? [];
  const wanted = `${call.method} ${edge}`.trim();
  if (id === settings.phoneNumberId) {
    if (wanted === 'POST messages')
      return {
        endpoint: 'messages',
        answer: () => postMessage(platform, parseObject(call.bytes), call.headers),
      };
    if (wanted === 'POST media')
      return {
        endpoint: 'media',
        answer: () => uploadMedia(store, call.bytes, call.headers['content-type'] ?? ''),
      };
    if (wanted === 'GET') return { endpoint: 'phone_number', answer: () => describePhoneNumber(store) };
  }
  if (id === settings.businessAccountId && wanted === 'GET message_templates')
    return { endpoint: 'templates', answer: () => listTemplates(store, call.url, call.origin) };
  const media = store.media.get(id);
  if (media && wanted === 'GET')
    return { endpoint: 'media', answer: () => describeMedia(store, media, call.origin) };
  if (media && wanted === 'DELETE') return { endpoint: 'media', answer: () => deleteMedia(store, media) };
  throw unknownObject(call.method, id);
}

async function suffer(
  { lifetime }: Platform,
  fault: Fault | undefined,
  route: Route,
  response: ServerResponse,
): Promise<void> {
  if (fault?.kind === 'fail') throw new GraphError(fault.failure.code, fault.failure);
  if (fault?.kind === 'hang' && !fault.accept) return;
  const answer = await route.answer();
  if (fault?.kind === 'hang') return;
  if (fault?.kind === 'drop') {
    response.destroy();
    return;
  }
  if (fault?.kind === 'delay') await lifetime.sleep(fault.ms);
  if (isBytes(answer)) {
    response.writeHead(200, { 'content-type': answer.mime, 'content-length': answer.bytes.length });
    response.end(answer.bytes);
  } else sendJson(response, 200, answer);
}

function isBytes(answer: Answer): answer is { bytes: Buffer; mime: string } {
  return Buffer.isBuffer(answer['bytes']);
}

function describePhoneNumber({ settings }: Store): Record<string, unknown> {
  return {
    verified_name: settings.verifiedName,
    code_verification_status: 'VERIFIED',
    display_phone_number: settings.displayPhoneNumber,
    quality_rating: 'GREEN',
    platform_type: 'CLOUD_API',
    throughput: { level: 'STANDARD' },
    id: settings.phoneNumberId,
  };
}
