import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { badRequest } from '../errors.ts';
import type { App } from './route.ts';

export const maxBodyBytes = 1024 * 1024;
const maxDepth = 32;

/** Reads JSON bodies. What PostgreSQL cannot hold or Node would silently replace is refused, never altered. */
export function readJsonBodies(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      request.rawBody = body;
      return parseJson(body, request.headers['content-type'] ?? '');
    },
  );
}

function parseJson(body: Buffer, contentType: string): unknown {
  const charset = /charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) throw badRequest('The body must be UTF-8');
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw badRequest('The body is not valid UTF-8');
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badRequest(`The body is not valid JSON: ${(error as Error).message}`);
  }
  // Only an escape can bring a NUL or half a surrogate pair into valid UTF-8, only brackets can bring depth, and
  // only an exponent can bring a number that is not finite: most bodies need no second look.
  if (text.includes('\\u') || brackets(body) > maxDepth || /\d[eE]/.test(text)) inspect(value, 1);
  return value;
}

function brackets(body: Buffer): number {
  let count = 0;
  for (const byte of body) if (byte === 0x5b || byte === 0x7b) count++;
  return count;
}

function inspect(value: unknown, depth: number): void {
  if (typeof value === 'string') return inspectText(value);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw badRequest('The body has a number out of range');
  if (typeof value !== 'object' || value === null) return;
  if (depth > maxDepth) throw badRequest(`The body is nested deeper than ${maxDepth} levels`);
  for (const [key, inner] of Object.entries(value)) {
    inspectText(key);
    inspect(inner, depth + 1);
  }
}

function inspectText(text: string): void {
  if (text.includes('\0'))
    throw badRequest('The body has a NUL character (\\u0000), which no field can hold');
  if (!text.isWellFormed())
    throw badRequest('The body has half of a surrogate pair, which is not Unicode text');
}

/** The same rules for the query string. */
export function checkQueryString(url: string): void {
  const query = url.slice(url.indexOf('?') + 1);
  if (query === url || !query.includes('%')) return;
  try {
    if (decodeURIComponent(query).includes('\0')) throw badRequest('The query string has a NUL character');
  } catch (error) {
    if (error instanceof URIError) throw badRequest('The query string is not valid percent-encoded UTF-8');
    throw error;
  }
}
