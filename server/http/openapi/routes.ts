import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { renderPage } from '../docs/page.ts';
import type { App } from '../route.ts';
import { describeRoutes } from './document.ts';
import { examples } from './examples.ts';

/** Describes every route registered after it on this app, and serves the description. */
export async function useDocumentation(app: App): Promise<void> {
  const document = await describeRoutes(app);
  const style = file('text/css', await readFile(new URL('../docs/style.css', import.meta.url), 'utf8'));
  const script = file(
    'text/javascript',
    await readFile(new URL('../docs/script.js', import.meta.url), 'utf8'),
  );
  let description!: File;
  let render!: (baseUrl: string) => string;
  let page: { baseUrl: string; file: File } | undefined;

  app.addHook('onReady', async () => {
    const made = document();
    description = file('application/json', `${JSON.stringify(made, null, 2)}\n`);
    render = renderPage(made, examples);
  });

  const config = { public: true } as const;
  const tags = ['Documentation'];

  app.get(
    '/openapi.json',
    {
      config,
      schema: {
        operationId: 'getOpenapi',
        summary: 'Read this description as OpenAPI 3.1',
        tags,
        response: { 200: Type.Object({ openapi: Type.String() }, { description: 'This document.' }) },
      },
    },
    (request, reply) => sendFile(request, reply, description),
  );

  app.get(
    '/docs',
    {
      config,
      schema: {
        operationId: 'getDocs',
        summary: 'Read this description as a web page',
        description: 'Works without an internet connection and without JavaScript.',
        tags,
        response: {
          200: { description: 'The page.', content: { 'text/html': { schema: { type: 'string' } } } },
        },
      },
    },
    (request, reply) => {
      reply.header('content-security-policy', contentSecurityPolicy);
      const baseUrl = baseUrlOf(request);
      if (page?.baseUrl !== baseUrl) page = { baseUrl, file: file('text/html', render(baseUrl)) };
      return sendFile(request, reply, page.file);
    },
  );

  app.get('/docs/style.css', { config, schema: { hide: true } }, (request, reply) =>
    sendFile(request, reply, style),
  );
  app.get('/docs/script.js', { config, schema: { hide: true } }, (request, reply) =>
    sendFile(request, reply, script),
  );
}

const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface File {
  type: string;
  text: string;
  etag: string;
}

function file(type: string, text: string): File {
  return {
    type: `${type}; charset=utf-8`,
    text,
    etag: `"${createHash('sha256').update(text).digest('base64url')}"`,
  };
}

function sendFile(request: FastifyRequest, reply: FastifyReply, { type, text, etag }: File): FastifyReply {
  reply.header('etag', etag).header('cache-control', 'no-cache').header('x-content-type-options', 'nosniff');
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.includes(etag)) return reply.code(304).send();
  return reply.type(type).send(text);
}

/** Where the reader found this page, so that the commands on it work as pasted. */
function baseUrlOf({ protocol, host }: FastifyRequest): string {
  const isPlain = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host);
  return `${protocol}://${isPlain ? host : 'localhost'}/v1`;
}
