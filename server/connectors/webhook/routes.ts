import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Context } from '../../context.ts';
import { ApiError, notFound } from '../../errors.ts';
import { fromId } from '../../ids.ts';
import { type App, dataOf, IdParams } from '../../http/route.ts';
import { type CallableChannel, findCallableChannel } from '../callable.ts';
import type { Connector } from '../connector.ts';
import type { Connectors } from '../registry.ts';
import { createWebhookMetrics } from './metrics.ts';
import { storeInbound } from './store.ts';

const maxBodyBytes = 4 * 1024 * 1024;

const Question = Type.Object({
  'hub.mode': Type.Optional(Type.String({ description: '`subscribe`.' })),
  'hub.verify_token': Type.Optional(Type.String({ description: 'The verify token of the channel.' })),
  'hub.challenge': Type.Optional(Type.String({ description: 'What to give back.' })),
});

const Taken = Type.Object({
  messages: Type.Integer({ description: 'Messages stored now or before.' }),
  statuses: Type.Integer({ description: 'Reports about messages we sent.' }),
  ignored: Type.Integer({ description: 'Parts that mean nothing to this channel.' }),
});

/** Where platforms call: one URL a channel, whatever its type. The platform's own signature is what lets it in. */
export async function platformWebhookRoutes(app: App, ctx: Context, connectors: Connectors): Promise<void> {
  const metrics = createWebhookMetrics(ctx);

  async function called({ params }: FastifyRequest<{ Params: { id: string } }>) {
    const channel = await findCallableChannel(ctx, fromId('channel', params.id));
    const webhook = channel && connectors[channel.type].webhook;
    if (!webhook) throw notFound('Channel');
    return { channel, webhook };
  }

  await app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'buffer' },
      async (_request: FastifyRequest, body: Buffer) => body,
    );

    scope.get(
      '/channels/:id/webhook',
      {
        config: { public: true },
        schema: {
          operationId: 'shakeHands',
          summary: 'Answer the platform that asks whether this URL is ours',
          description:
            'For the platform of a `whatsapp` channel, which sends the verify token set there and here.',
          tags: ['Channels'],
          params: IdParams,
          querystring: Question,
          response: { 200: Type.String({ description: 'The challenge, as plain text.' }) },
        },
      },
      async (request, reply) => {
        const { channel, webhook } = await called(request);
        const answer = webhook.handshake(channel, request.query);
        if (answer === undefined) throw refused(request, channel, 'handshake');
        return reply.type('text/plain; charset=utf-8').send(answer);
      },
    );

    scope.post(
      '/channels/:id/webhook',
      {
        bodyLimit: maxBodyBytes,
        config: { public: true },
        schema: {
          operationId: 'receiveFromPlatform',
          summary: 'Take what the platform of a channel sends',
          description:
            'For the platform, which signs what it sends. Answered once everything in it is stored.',
          tags: ['Channels'],
          params: IdParams,
          response: { 200: dataOf(Taken) },
        },
      },
      async (request, reply) => {
        const { channel, webhook } = await called(request);
        const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        if (!webhook.verify(channel, request.headers, bytes)) throw refused(request, channel, 'signature');
        return take(request, reply, channel, webhook, bytes);
      },
    );
  });

  async function take(
    request: FastifyRequest,
    reply: FastifyReply,
    channel: CallableChannel,
    webhook: NonNullable<Connector['webhook']>,
    bytes: Buffer,
  ) {
    const inbound = webhook.parse(channel, parsed(bytes));
    const base = ctx.config.publicUrl ?? `${request.protocol}://${request.host}`;
    const { stored, repeated, unknownStatuses } = await storeInbound(ctx, channel, inbound, base);
    metrics.taken(channel.type, 'message', stored);
    metrics.taken(channel.type, 'repeat', repeated);
    metrics.taken(channel.type, 'status', inbound.statuses.length - unknownStatuses);
    metrics.taken(channel.type, 'unknown_status', unknownStatuses);
    for (const [what, parts] of Object.entries(Object.groupBy(inbound.ignored, (reason) => reason))) {
      const times = parts?.length ?? 0;
      metrics.ignored(channel.type, what, times);
      request.log.warn({ what, times }, 'a part of a platform call was ignored');
    }
    return reply.send({
      data: {
        messages: inbound.messages.length,
        statuses: inbound.statuses.length,
        ignored: inbound.ignored.length,
      },
    });
  }

  function refused(
    request: FastifyRequest,
    { type }: CallableChannel,
    why: 'handshake' | 'signature',
  ): ApiError {
    metrics.ignored(type, why, 1);
    request.log.warn({ why }, 'a platform call was refused');
    return new ApiError(
      'forbidden',
      `The ${why === 'signature' ? 'signature' : 'verify token'} is not right`,
    );
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
