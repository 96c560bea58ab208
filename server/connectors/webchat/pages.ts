import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { App } from '../../http/route.ts';
import { demoPage, demoPolicy } from './demo.ts';
import { assembleWidget, type Script } from './widget.ts';

/** The script that sites put on their pages, and a page to try it on. */
export async function webchatPages(app: App): Promise<void> {
  const script = await assembleWidget();
  const config = { public: true, cors: false } as const; // sendScript says who may load it
  const tags = ['Web chat'];

  app.get(
    '/webchat/widget.js',
    {
      config,
      schema: {
        operationId: 'getWebchatWidget',
        summary: 'Load the widget',
        description: 'For a `script` element with the id of the channel in `data-channel`.',
        tags,
        response: { 200: textAs('text/javascript', 'The script.') },
      },
    },
    (request, reply) => sendScript(request, reply, script),
  );

  app.get(
    '/webchat/demo',
    {
      config,
      schema: {
        operationId: 'getWebchatDemo',
        summary: 'Try the widget on a page of its own',
        tags,
        querystring: Type.Object({
          channel: Type.Optional(Type.String({ description: 'Id of the channel, `ch_…`.' })),
        }),
        response: { 200: textAs('text/html', 'The page.') },
      },
    },
    (request, reply) =>
      reply
        .header('content-security-policy', demoPolicy)
        .header('x-content-type-options', 'nosniff')
        .header('referrer-policy', 'no-referrer')
        .header('cache-control', 'no-store')
        .type('text/html; charset=utf-8')
        .send(demoPage(request.query.channel ?? '', originOf(request))),
  );
}

const textAs = (type: string, description: string) => ({
  description,
  content: { [type]: { schema: { type: 'string' } } },
});

function sendScript(
  request: FastifyRequest,
  reply: FastifyReply,
  { text, gzipped, etag }: Script,
): FastifyReply {
  reply
    .header('etag', etag)
    .header('cache-control', 'public, max-age=300')
    .header('vary', 'Accept-Encoding')
    .header('x-content-type-options', 'nosniff')
    // For pages that load it with `crossorigin`, or that admit only what says it may be embedded.
    .header('access-control-allow-origin', '*')
    .header('cross-origin-resource-policy', 'cross-origin');
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.includes(etag)) return reply.code(304).send();
  reply.type('text/javascript; charset=utf-8');
  if (!takesGzip(request)) return reply.send(text);
  return reply.header('content-encoding', 'gzip').send(gzipped);
}

const takesGzip = ({ headers }: FastifyRequest): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0+)?\s*(?:,|$))/i.test(headers['accept-encoding'] ?? '');

/** Where the reader found the page; what is no plain host name is not repeated on it. */
function originOf({ protocol, host }: FastifyRequest): string {
  const isPlain = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host);
  return `${protocol}://${isPlain ? host : 'inbox.example.com'}`;
}
