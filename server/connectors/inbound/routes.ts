import { findChannel } from '../../channels/queries.ts';
import type { Context } from '../../context.ts';
import { invalid } from '../../errors.ts';
import { answerOnce } from '../../http/idempotency.ts';
import { type App, dataOf, IdParams } from '../../http/route.ts';
import { byId } from '../../references.ts';
import { checkContent, receiveMessage } from './inbound.ts';
import { InboundMessage, InboundResult } from './schema.ts';

export function inboundRoutes(app: App, ctx: Context): void {
  app.post(
    '/channels/:id/inbound',
    {
      config: { scope: 'messages:write' },
      schema: {
        operationId: 'receiveMessage',
        summary: "Hand over a customer's message",
        description:
          'Finds or creates the contact, finds, reopens or creates the conversation, and appends the message. ' +
          'A repeat of the same `external_id` on the channel answers 200 with what the first one made.',
        tags: ['Messages'],
        params: IdParams,
        body: InboundMessage,
        response: { 200: dataOf(InboundResult), 201: dataOf(InboundResult) },
      },
    },
    async (request, reply) => {
      const { workspaceId } = request.caller;
      return answerOnce(ctx, request, reply, async (tx) => {
        const channel = await byId('channel', request.params.id, (id) => findChannel(tx, workspaceId, id));
        if (channel.archived) throw invalid('id', 'archived', 'This channel is archived');
        checkContent(request.body);
        const { repeated, ...data } = await receiveMessage(tx, workspaceId, channel, request.body);
        return { status: repeated ? 200 : 201, data };
      });
    },
  );
}
