import Type from 'typebox';
import type { Context } from '../../context.ts';
import { checkText } from '../../conversations/messages/outgoing.ts';
import { ApiError, invalid } from '../../errors.ts';
import { type App, dataOf, IdParams } from '../../http/route.ts';
import { fromId } from '../../ids.ts';
import { receiveMessage } from '../inbound/inbound.ts';
import { answerPreflight, enterChannel, keyOf, placeOf, visitorOf } from './access.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { refused } from './documented.ts';
import { createLimits, perMinute, tooMany } from './limits.ts';
import { tellBrowsers } from './news.ts';
import { findVisitorContactId, historyPage, listHistory } from './queries.ts';
import {
  EventsQuery,
  History,
  HistoryQuery,
  NewSession,
  NewWebchatMessage,
  Session,
  WebchatMessage,
} from './schema.ts';
import { createStreams, streamsPerVisitor } from './stream.ts';
import { isVouchedFor, newVisitor, openVisitor, type Place, sealVisitor, type Visitor } from './token.ts';
import { visibleMessage } from './visible.ts';

/** What the widget calls, from any page the channel allows: without an API key, with a token of the visitor's own. */
export async function webchatRoutes(app: App, ctx: Context): Promise<void> {
  app.addSchema(WebchatMessage);
  await app.register(async (scope) => useWebchat(scope, ctx), { prefix: '/channels/:id/webchat' });
}

// `cors: false`: the rule of the rest of /v1, any origin, is not the rule here.
const config = { public: true, cors: false } as const;
const tags = ['Web chat'];

function useWebchat(app: App, ctx: Context): void {
  const limits = createLimits(ctx);
  const streams = createStreams(ctx);
  app.decorateRequest('webchat');
  app.addHook('onRequest', (request, reply) => enterChannel(ctx, limits, request, reply));
  app.addHook('preClose', () => streams.close());
  app.options('/*', { config, schema: { hide: true } }, async (_request, reply) => answerPreflight(reply));

  app.post(
    '/session',
    {
      config,
      schema: {
        operationId: 'openWebchatSession',
        summary: 'Begin or renew a visitor’s session',
        description:
          `A new anonymous visitor; the one of \`token\` again; or a user your server vouches for. ` +
          `At most ${perMinute.sessions} a minute from one address.`,
        tags,
        params: IdParams,
        body: NewSession,
        response: { 201: dataOf(Session), ...refused(429) },
      },
    },
    async (request, reply) => {
      await limits.session(request, reply);
      const place = placeOf(ctx, request.webchat);
      const visitor = whoIs(ctx, place, request.body);
      const { token, expiresAt } = sealVisitor(ctx.vault, place, visitor);
      const { name, identified } = visitor;
      return reply.code(201).send({ data: { token, expires_at: expiresAt, name, identified } });
    },
  );

  app.post(
    '/messages',
    {
      config,
      schema: {
        operationId: 'sendWebchatMessage',
        summary: 'Write as a visitor',
        description:
          'Needs the token of a session: `Authorization: Bearer <token>`. A repeat of an `external_id` answers 200 with ' +
          `what the first one made. At most ${perMinute.messages} a minute.`,
        tags,
        params: IdParams,
        body: NewWebchatMessage,
        response: {
          200: dataOf(Type.Ref('WebchatMessage#')),
          201: dataOf(Type.Ref('WebchatMessage#')),
          ...refused(401, 429),
        },
      },
    },
    async (request, reply) => {
      const channel = request.webchat;
      const visitor = await visitorOf(ctx, limits, request, reply);
      await limits.message(keyOf(channel, visitor), reply);
      const { content, external_id } = request.body;
      checkText(content, { channel_type: 'webchat' }, 'content');
      const { message, repeated } = await ctx.db.transaction((tx) =>
        receiveMessage(tx, channel.workspace_id, channel, {
          from: { external_id: visitor.externalId, name: visitor.name },
          content,
          // With the visitor's own name before it: nobody reads another's message by guessing what it is called.
          ...(external_id !== undefined && { external_id: `${visitor.externalId} ${external_id}` }),
        }),
      );
      if (!repeated) {
        await tellBrowsers(ctx.db, keyOf(channel, visitor)).catch((error: unknown) =>
          request.log.warn({ err: error }, 'other pages of a visitor were not told of a message'),
        );
      }
      const { id, attachments, created_at } = message;
      return reply.code(repeated ? 200 : 201).send({
        data: { id, from: 'visitor', author: null, content: message.content, attachments, created_at },
      });
    },
  );

  app.get(
    '/messages',
    {
      config,
      schema: {
        operationId: 'listWebchatMessages',
        summary: 'Read what was said',
        description:
          `Needs the token of a session. The last ${historyPage} messages the visitor may see, oldest first; never an internal ` +
          'note or an activity.',
        tags,
        params: IdParams,
        querystring: HistoryQuery,
        response: { 200: dataOf(History), ...refused(401, 429) },
      },
    },
    async (request, reply) => {
      const channel = request.webchat;
      const visitor = await visitorOf(ctx, limits, request, reply);
      await limits.read(keyOf(channel, visitor), reply);
      const before = borderOf(request.query.before);
      const contactId = await findVisitorContactId(ctx.db, channel, visitor.externalId);
      if (contactId === undefined) return { data: { messages: [], before: null, cursor: '' } };
      const { rows, seen } = await listHistory(ctx.db, channel, contactId, before);
      const messages = rows.slice(0, historyPage).toReversed().map(visibleMessage);
      const hasMore = rows.length > historyPage;
      return {
        data: { messages, before: hasMore ? messages[0]!.id : null, cursor: writeCursor(seen) },
      };
    },
  );

  app.get(
    '/events',
    {
      config,
      schema: {
        operationId: 'streamWebchatMessages',
        summary: 'Hear of new messages',
        description:
          'Needs the token of a session. Server-sent events: every visible message after the cursor, then each new one as it ' +
          'comes, as `event: message` with a `WebchatMessage`. The `id` of an event is the cursor after it: send the last one ' +
          `back as \`Last-Event-ID\`, and nothing is missed or told twice. At most ${streamsPerVisitor} at a time.`,
        tags,
        params: IdParams,
        querystring: EventsQuery,
        response: {
          200: {
            description: 'The stream.',
            content: { 'text/event-stream': { schema: { type: 'string' } } },
          },
          ...refused(401, 429),
        },
      },
    },
    async (request, reply) => {
      const visitor = await visitorOf(ctx, limits, request, reply);
      await limits.read(keyOf(request.webchat, visitor), reply);
      const after = request.headers['last-event-id'] ?? request.query.after ?? '';
      const stream = streams.open(request.webchat, visitor, readCursor(String(after)), reply.raw);
      if (!stream) throw tooMany(reply, `Over ${streamsPerVisitor} streams at a time`, 30);
      return reply
        .header('content-type', 'text/event-stream; charset=utf-8')
        .header('x-accel-buffering', 'no') // a proxy that collects an answer before it passes it on
        .header('connection', 'close') // nothing is left open once it ends, least of all at shutdown
        .send(stream);
    },
  );
}

/** A user goes before a token: the page knows who is logged in now. */
function whoIs({ vault }: Context, place: Place, { token, user }: NewSession): Visitor {
  if (!user) return (token !== undefined && openVisitor(vault, place, token)) || newVisitor();
  if (place.identitySecret === undefined) {
    throw invalid(
      'user',
      'identity_secret',
      'This channel has no identity_secret, so nobody can be identified',
    );
  }
  if (!isVouchedFor(user.id, user.hash, place.identitySecret)) {
    throw new ApiError('forbidden', 'user.hash is not the HMAC-SHA256 of user.id with the identity_secret');
  }
  return { externalId: `user:${user.id}`, name: user.name?.trim() || user.id, identified: true };
}

function borderOf(before: string | undefined): string | null {
  if (before === undefined) return null;
  const uuid = fromId('message', before);
  if (uuid === undefined) throw invalid('before', 'id', 'before must be as an earlier answer gave it');
  return uuid;
}
