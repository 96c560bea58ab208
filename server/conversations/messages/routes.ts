import Type from 'typebox';
import type { Context } from '../../context.ts';
import { answerOnce } from '../../http/idempotency.ts';
import { type App, dataOf, listOf, sendPage } from '../../http/route.ts';
import { fromId } from '../../ids.ts';
import { pageOf } from '../../page.ts';
import { byId } from '../../references.ts';
import { lockConversation } from '../queries.ts';
import { messageOf } from './messages.ts';
import { listMessages } from './queries.ts';
import { defaultPerPage, Message, MessageQuery, NewMessage } from './schema.ts';
import { sendMessage } from './send.ts';
import { senderOf } from './sender.ts';
import { togetherSender } from './together.ts';

const Params = Type.Object({ conversation_id: Type.String() });

export function messageRoutes(app: App, ctx: Context): void {
  app.addSchema(Message);
  const sendTogether = togetherSender(ctx.db);

  app.get(
    '/conversations/:conversation_id/messages',
    {
      config: { scope: 'messages:read' },
      schema: {
        operationId: 'listMessages',
        summary: 'List the messages of a conversation',
        description: 'Oldest first, or newest first with `order=desc`.',
        tags: ['Messages'],
        params: Params,
        querystring: MessageQuery,
        response: { 200: listOf(Type.Ref('Message#')) },
      },
    },
    async (request, reply) => {
      const page = pageOf(request.query, defaultPerPage);
      const { workspaceId } = request.caller;
      const found = await byId('conversation', request.params.conversation_id, (id) =>
        listMessages(ctx.db, workspaceId, id, request.query.order ?? 'asc', page),
      );
      return sendPage(request, reply, page, { ...found, rows: found.rows.map(messageOf) });
    },
  );

  app.post(
    '/conversations/:conversation_id/messages',
    {
      config: { scope: 'messages:write' },
      schema: {
        operationId: 'sendMessage',
        summary: 'Send a message',
        description: 'Text, a template, attachments, or an internal note (`private: true`).',
        tags: ['Messages'],
        params: Params,
        body: NewMessage,
        response: { 201: dataOf(Type.Ref('Message#')) },
      },
    },
    async (request, reply) => {
      const { workspaceId } = request.caller;
      for (const [place, { url }] of (request.body.attachments ?? []).entries()) {
        await ctx.egress.checkUrl(`attachments.${place}.url`, url);
      }
      const sender = senderOf(request.caller);
      const conversationId = fromId('conversation', request.params.conversation_id);
      if (conversationId !== undefined && request.headers['idempotency-key'] === undefined) {
        const data = await sendTogether({ workspaceId, conversationId, input: request.body, sender });
        if (data) return reply.code(201).send({ data });
      }
      return answerOnce(ctx, request, reply, async (tx) => {
        const conversation = await byId('conversation', request.params.conversation_id, (id) =>
          lockConversation(tx, workspaceId, id),
        );
        return { status: 201, data: await sendMessage(tx, workspaceId, conversation, request.body, sender) };
      });
    },
  );
}
