import { type Agent, type Dispatcher, errors, request } from 'undici';
import { refusalOf } from '../../egress/guard.ts';
import type { OpenChannel } from '../connector.ts';

/** Where the Graph API is, unless the channel's `api_base_url` says otherwise. */
const usualBaseUrl = 'https://graph.facebook.com/v23.0';
const mostAnswerBytes = 4 * 1024 * 1024;

/** What came back; `status` null: nothing did, and whether the platform acted on it is unknown unless `refused`. */
export type GraphAnswer =
  | { status: number; body: GraphBody; retryAfterSeconds: number | undefined }
  | { status: null; why: 'timeout' | 'connection' | 'blocked_address' | 'dns'; refused: boolean };

/** Only what is looked at; everything may be missing, or be something else. */
export interface GraphError {
  code?: unknown;
  message?: unknown;
  title?: unknown;
  is_transient?: unknown;
  error_data?: { details?: unknown } | null;
}

export interface GraphBody {
  error?: GraphError | null;
  [name: string]: unknown;
}

export interface GraphCall {
  method: 'GET' | 'POST';
  /** Below the base URL, or a whole URL that the API itself gave. */
  path: string;
  body?: Buffer | string;
  headers?: Record<string, string>;
  deadline: AbortSignal;
  /** How long nothing may come in the middle of the answer. */
  silenceMs?: number;
}

/** A token that no header can hold is none: undici would not fail on it but wait forever, deadline or not. */
export function hasToken({ secrets }: OpenChannel): boolean {
  return /^[\x21-\x7e]+$/.test(secrets.access_token ?? '');
}

export async function callGraph(agent: Agent, channel: OpenChannel, call: GraphCall): Promise<GraphAnswer> {
  try {
    const { statusCode, headers, body } = await openGraph(agent, channel, call);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > mostAnswerBytes) break;
      chunks.push(chunk);
    }
    const retryAfter = Number(headers['retry-after']);
    return {
      status: statusCode,
      body: parsed(Buffer.concat(chunks).toString('utf8')),
      retryAfterSeconds: retryAfter > 0 ? retryAfter : undefined,
    };
  } catch (error) {
    return failureOf(error);
  }
}

/** The answer with its body unread, for media. */
export function openGraph(
  agent: Agent,
  { settings, secrets }: OpenChannel,
  { method, path, body, headers, deadline, silenceMs }: GraphCall,
): Promise<Dispatcher.ResponseData> {
  const base = typeof settings.api_base_url === 'string' ? settings.api_base_url : usualBaseUrl;
  const url = /^https?:\/\//.test(path) ? path : `${base.replace(/\/+$/, '')}/${path}`;
  return request(url, {
    dispatcher: agent,
    method,
    signal: deadline,
    headers: {
      authorization: `Bearer ${secrets.access_token}`,
      'user-agent': 'Inbox-Channels/1',
      ...headers,
    },
    ...(body !== undefined && { body }),
    ...(silenceMs !== undefined && { bodyTimeout: silenceMs }),
  });
}

function parsed(text: string): GraphBody {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as GraphBody) : {};
  } catch {
    return {};
  }
}

function failureOf(error: unknown): GraphAnswer {
  const refusal = refusalOf(error);
  if (refusal) return { status: null, why: refusal, refused: true };
  const { name, code } = error as { name?: string; code?: string };
  const timedOut =
    name === 'TimeoutError' || name === 'AbortError' || error instanceof errors.HeadersTimeoutError;
  const neverConnected = code === 'ECONNREFUSED' || error instanceof errors.ConnectTimeoutError;
  return { status: null, why: timedOut ? 'timeout' : 'connection', refused: neverConnected };
}
