import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type Emulator, type EmulatorOptions, startEmulator } from './emulator.ts';
import { readBody } from './http.ts';

export const customer = '4915112345678';

/** An emulator with quick retries that ends with the test. */
export async function start(t: TestContext, options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator({ retryDelaysMs: [5, 5], statusDelayMs: 0, ...options });
  t.after(() => emulator.close());
  return emulator;
}

/** A JSON answer of the Graph API, read loosely: what a test looks at is what it asserts. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

export function readJson(response: Response): Promise<Json> {
  return response.json();
}

export async function graph(
  { apiBaseUrl, settings }: Emulator,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; json: Json }> {
  const response = await fetch(`${apiBaseUrl}/${path}`, {
    method,
    headers: { authorization: `Bearer ${settings.accessToken}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: await readJson(response) };
}

export function send(emulator: Emulator, message: Record<string, unknown>) {
  return graph(emulator, 'POST', `${emulator.settings.phoneNumberId}/messages`, {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: `+${customer}`,
    ...message,
  });
}

export function sendText(emulator: Emulator, body = 'Hello', more: Record<string, unknown> = {}) {
  return send(emulator, { type: 'text', text: { body, preview_url: false }, ...more });
}

export interface Hook {
  url: string;
  /** Parsed bodies of what came, statuses and messages alike. */
  values(): Json[];
  received: { path: string; headers: IncomingHttpHeaders; body: string }[];
  /** What to answer from now on; 200 unless told. */
  answer: (response: ServerResponse, path: string) => void;
}

/** A server that takes webhooks and ends with the test. */
export async function startHook(t: TestContext): Promise<Hook> {
  const hook: Hook = {
    url: '',
    received: [],
    values: () =>
      hook.received
        .filter(({ body }) => body !== '')
        .flatMap(({ body }) => JSON.parse(body).entry)
        .flatMap((entry) => entry.changes)
        .map((change) => change.value),
    answer: (response) => void response.end(),
  };
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const path = request.url ?? '';
      hook.received.push({ path, headers: request.headers, body: body.toString('utf8') });
      return hook.answer(response, path);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  hook.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/whatsapp`;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return hook;
}
