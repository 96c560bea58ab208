import { readFileSync } from 'node:fs';
import cors from '@fastify/cors';
import Fastify, { LogController, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { ApiError, badRequest, notFound } from '../errors.ts';
import { Meta } from '../page.ts';
import { newUuid, toId } from '../ids.ts';
import { createAuthenticator } from './authenticate.ts';
import { checkQueryString, maxBodyBytes, readJsonBodies } from './body.ts';
import { networkOf } from './client-network.ts';
import { answerError, errorBody } from './error-handler.ts';
import { createRateLimiter, requestsPerMinute, type Verdict, withoutKeyPerMinute } from './rate-limit.ts';
import type { App } from './route.ts';
import { compileValidator } from './validation.ts';

/** The bare server: parsing, logging, errors. What `/v1` adds is in `useConventions`. */
export function createServer({ config, log, metrics }: Context): App {
  const app = Fastify({
    loggerInstance: log,
    // Node itself would answer a missing Host with an empty 400; here every answer is JSON.
    ...(config.tls
      ? {
          https: {
            cert: readFileSync(config.tls.certFile),
            key: readFileSync(config.tls.keyFile),
            minVersion: 'TLSv1.2',
            requireHostHeader: false,
          },
        }
      : { http: { requireHostHeader: false } }),
    rewriteUrl: ({ url = '/' }) => decodable(url),
    logController: new LogController({ disableRequestLogging: true }), // one line a request, below
    schemaController: {
      compilersFactory: {
        buildValidator: () => compileValidator as never, // typed for Ajv alone, called with the part of the request too
        buildSerializer: () => () => JSON.stringify, // faster than a compiled serialiser since Node 24
      },
    },
    genReqId: requestId,
    bodyLimit: maxBodyBytes,
    // The proxy before us appends the address it saw; what stands left of that, the client may have made up.
    trustProxy: config.trustProxy && ((_address, hop) => hop === 0),
    connectionTimeout: 0,
    requestTimeout: 30_000, // a client that drips its request does not hold a socket for ever
    keepAliveTimeout: 72_000, // longer than the usual 60 s of a load balancer, which must be the one to close
    return503OnClosing: false, // a request already under way during shutdown is answered, not refused
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 65_536 }, // longer than any request line: an id that is too long is a 404, not a 400
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply as FastifyReply),
    clientErrorHandler(error, socket) {
      if (!socket.writable || (error as { code?: string }).code === 'ECONNRESET') {
        socket.destroy();
        return;
      }
      const body = JSON.stringify(
        errorBody(new ApiError('bad_request', 'The request is not valid HTTP'), `req_${newUuid()}`),
      );
      socket.end(
        `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
    },
  }) as unknown as App;

  // And an expectation it does not know with a bare 417: here it is a request like any other.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((_request, _reply) => {
    throw notFound('Route');
  });
  app.decorateRequest('rawBody', undefined);
  readJsonBodies(app);
  app.addSchema(Meta);
  // These two wait for nothing, so no request pays for a promise each.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    const lacksHost = request.headers.host === undefined && request.raw.httpVersion === '1.1';
    done(lacksHost ? badRequest('The request has no Host header') : undefined);
  });
  app.addHook('onResponse', (request, reply, done) => {
    metrics.requestSeconds.observe(
      { method: request.method, route: request.routeOptions.url ?? 'unknown', status: reply.statusCode },
      reply.elapsedTime / 1000,
    );
    request.log.info(
      {
        method: request.method,
        path: request.url.split('?', 1)[0],
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        key: request.caller && toId('key', request.caller.keyId),
      },
      'request',
    );
    done();
  });
  return app;
}

/** The client's own request id when it is sane, else a new one. */
function requestId(request: { headers: Record<string, string | string[] | undefined> }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : `req_${newUuid()}`;
}

const exposedHeaders = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'Link',
  'Idempotent-Replayed',
];

/** Authentication, rate limit and scopes, in that order, before anything else is looked at. */
export async function useConventions(app: App, ctx: Context): Promise<void> {
  const authenticate = createAuthenticator(ctx);
  const limiter = createRateLimiter(ctx);

  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders,
    strictPreflight: false, // what is no preflight would be answered in plain text
    maxAge: 86_400,
  });
  app.decorateRequest('caller');
  app.addHook('onRequest', async (request, reply) => {
    const { scope, public: isPublic } = request.routeOptions.config;
    if (isPublic || request.method === 'OPTIONS') return;
    const caller = await authenticate(request);
    if (!caller) throw await withoutKey(request, reply);
    request.caller = caller;
    const verdict = await limiter.take(`key ${caller.keyId}`, requestsPerMinute[caller.plan]);
    setRateHeaders(reply, verdict);
    if (!verdict.allowed) throw tooMany(reply, verdict, `the ${caller.plan} plan of this workspace`);
    if (scope && !caller.scopes.has(scope)) {
      throw new ApiError('forbidden', `This key lacks the scope ${scope}`, [
        { field: 'Authorization', rule: 'scope', message: `needs a key with the scope ${scope}` },
      ]);
    }
    if (request.originalUrl !== request.url) throw badRequest('The path is not valid percent-encoded UTF-8');
    checkQueryString(request.url);
  });
  app.setNotFoundHandler(() => {
    throw notFound('Route');
  });

  async function withoutKey(request: FastifyRequest, reply: FastifyReply): Promise<ApiError> {
    const verdict = await limiter.take(`address ${networkOf(request.ip)}`, withoutKeyPerMinute);
    if (!verdict.allowed) return tooMany(reply, verdict, 'requests without a valid key');
    reply.header('www-authenticate', 'Bearer');
    return new ApiError('unauthorized', 'Send a valid API key: Authorization: Bearer <API_KEY>');
  }
}

function setRateHeaders(reply: FastifyReply, { limit, remaining, resetAt }: Verdict): void {
  reply.header('x-ratelimit-limit', limit);
  reply.header('x-ratelimit-remaining', remaining);
  reply.header('x-ratelimit-reset', resetAt);
}

function tooMany(reply: FastifyReply, { limit, retryAfterSeconds }: Verdict, whose: string): ApiError {
  reply.header('retry-after', retryAfterSeconds);
  return new ApiError(
    'rate_limited',
    `Over ${limit} requests a minute, the limit of ${whose}; retry in ${retryAfterSeconds} s`,
  );
}

/** The router refuses a path it cannot decode before any hook runs; escaped once more it gets as far as the key check. */
function decodable(url: string): string {
  if (!url.includes('%')) return url;
  const [path = '', ...query] = url.split('?');
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}
