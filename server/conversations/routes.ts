import Type from 'typebox';
import type { Context } from '../context.ts';
import { answerOnce } from '../http/idempotency.ts';
import { type App, dataOf, IdParams, listOf, sendPage } from '../http/route.ts';
import { pageOf } from '../page.ts';
import { byId } from '../references.ts';
import { changeConversation } from './change.ts';
import { conversationOf, createConversation, summaryOf } from './conversations.ts';
import { filtersOf } from './filters.ts';
import { listConversations } from './list.ts';
import { senderOf } from './messages/sender.ts';
import { conversationReader, lockConversation } from './queries.ts';
import {
  Conversation,
  ConversationQuery,
  ConversationSummary,
  ConversationUpdate,
  defaultPerPage,
  NewConversation,
} from './schema.ts';

export function conversationRoutes(app: App, ctx: Context): void {
  app.addSchema(ConversationSummary);
  app.addSchema(Conversation);
  const One = dataOf(Type.Ref('Conversation#'));
  const readConversation = conversationReader(ctx.db);

  app.get(
    '/conversations',
    {
      config: { scope: 'conversations:read' },
      schema: {
        operationId: 'listConversations',
        summary: 'List conversations',
        description: 'The one updated last comes first. Filters combine.',
        tags: ['Conversations'],
        querystring: ConversationQuery,
        response: { 200: listOf(Type.Ref('ConversationSummary#')) },
      },
    },
    async (request, reply) => {
      const page = pageOf(request.query, defaultPerPage);
      const { workspaceId } = request.caller;
      const filters = await filtersOf(ctx.db, workspaceId, request.query);
      const found = filters
        ? await listConversations(ctx.db, workspaceId, filters, page)
        : { rows: [], total: 0, position: undefined };
      return sendPage(request, reply, page, { ...found, rows: found.rows.map(summaryOf) });
    },
  );

  app.get(
    '/conversations/:id',
    {
      config: { scope: 'conversations:read' },
      schema: {
        operationId: 'getConversation',
        summary: 'Read a conversation',
        tags: ['Conversations'],
        params: IdParams,
        response: { 200: One },
      },
    },
    async (request) => {
      const { workspaceId } = request.caller;
      const row = await byId('conversation', request.params.id, (id) => readConversation(workspaceId, id));
      return { data: conversationOf(row) };
    },
  );

  app.post(
    '/conversations',
    {
      config: { scope: 'conversations:write' },
      schema: {
        operationId: 'createConversation',
        summary: 'Create an outbound conversation',
        tags: ['Conversations'],
        body: NewConversation,
        response: { 201: One },
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, async (tx) => ({
        status: 201,
        data: await createConversation(
          tx,
          request.caller.workspaceId,
          request.body,
          senderOf(request.caller),
        ),
      })),
  );

  app.patch(
    '/conversations/:id',
    {
      config: { scope: 'conversations:write' },
      schema: {
        operationId: 'updateConversation',
        summary: 'Update a conversation',
        description: 'Only the fields sent change. `labels` replaces the list.',
        tags: ['Conversations'],
        params: IdParams,
        body: ConversationUpdate,
        response: { 200: One },
      },
    },
    async (request) => {
      const { caller, body } = request;
      const row = await ctx.db.transaction(async (tx) => {
        const before = await byId('conversation', request.params.id, (id) =>
          lockConversation(tx, caller.workspaceId, id),
        );
        return changeConversation(tx, caller.workspaceId, before, body, senderOf(caller));
      });
      return { data: conversationOf(row) };
    },
  );
}
