import type { FastifyReply, FastifyRequest } from 'fastify';
import { openSecrets } from '../../channels/settings.ts';
import type { Context } from '../../context.ts';
import { ApiError, notFound } from '../../errors.ts';
import { fromId } from '../../ids.ts';
import type { Limits } from './limits.ts';
import { findWebchatChannel, type WebchatChannel } from './queries.ts';
import { openVisitor, type Place, type Visitor } from './token.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The channel a browser speaks to. */
    webchat: WebchatChannel;
  }
}

/** Before anything else: which channel, and whether this page may speak to it. */
export async function enterChannel(
  ctx: Context,
  limits: Limits,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  reply.header('cache-control', 'no-store');
  // That there is no such channel may be read anywhere: whoever put the widget on a page should see why it is silent.
  reply.header('access-control-allow-origin', '*');
  const uuid = fromId('channel', (request.params as { id: string }).id);
  const channel = uuid === undefined ? undefined : await findWebchatChannel(ctx.db, uuid);
  if (!channel) {
    if (request.method === 'OPTIONS') return; // else the browser would not ask what we would like to say
    await limits.refusal(request, reply);
    throw notFound('Channel');
  }
  request.webchat = channel;
  const { allowed_origins: allowed } = channel.settings;
  if (Array.isArray(allowed) && allowed.length > 0) await allowOrigin(limits, request, reply, allowed);
  reply.header('access-control-expose-headers', 'X-Request-Id, Retry-After');
}

async function allowOrigin(
  limits: Limits,
  request: FastifyRequest,
  reply: FastifyReply,
  allowed: string[],
): Promise<void> {
  const { origin } = request.headers;
  reply.removeHeader('access-control-allow-origin').header('vary', 'Origin');
  if (origin === undefined) return; // not a page of another site; the visitor's token decides
  if (!allowed.includes(origin) && !isOwnPage(request, origin)) {
    await limits.refusal(request, reply);
    throw new ApiError('forbidden', `Pages of ${origin} may not use this channel: see its allowed_origins`);
  }
  reply.header('access-control-allow-origin', origin);
}

/** The demo page. A page of another site cannot make a browser send another Host. */
const isOwnPage = (request: FastifyRequest, origin: string): boolean =>
  URL.parse(origin)?.host === request.host;

/** A browser asks first whether it may send these. */
export function answerPreflight(reply: FastifyReply): FastifyReply {
  return reply
    .header('access-control-allow-methods', 'GET, POST')
    .header('access-control-allow-headers', 'authorization, content-type, last-event-id')
    .header('access-control-max-age', '86400')
    .code(204)
    .send();
}

export function placeOf({ vault }: Context, channel: WebchatChannel): Place {
  const { identity_secret: identitySecret } = openSecrets(vault, channel.sealed_settings);
  return { channelId: channel.id, identitySecret };
}

export async function visitorOf(
  ctx: Context,
  limits: Limits,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Visitor> {
  const [, token = ''] = /^Bearer +([\w-]{1,2048}) *$/i.exec(request.headers.authorization ?? '') ?? [];
  const visitor = openVisitor(ctx.vault, placeOf(ctx, request.webchat), token);
  if (visitor) return visitor;
  await limits.refusal(request, reply);
  reply.header('www-authenticate', 'Bearer');
  throw new ApiError(
    'unauthorized',
    'Send the token of a session on this channel: Authorization: Bearer <token>',
  );
}

/** What a visitor is called inside the service, over all channels. */
export const keyOf = (channel: WebchatChannel, { externalId }: Visitor): string =>
  `${channel.id} ${externalId}`;
