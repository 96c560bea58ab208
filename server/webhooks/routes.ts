import Type from 'typebox';
import type { Context } from '../context.ts';
import { invalid, notFound } from '../errors.ts';
import { answerOnce } from '../http/idempotency.ts';
import { type App, dataOf, Deleted, IdParams, listOf, sendPage } from '../http/route.ts';
import { toId } from '../ids.ts';
import { pageOf } from '../page.ts';
import { byId } from '../references.ts';
import { newSigningSecret } from '../signing-secret.ts';
import {
  countWebhooksLocked,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  rotateSecret,
  updateWebhook,
  type WebhookRow,
} from './queries.ts';
import {
  defaultPerPage,
  NewWebhook,
  Webhook,
  WebhookQuery,
  WebhookUpdate,
  WebhookWithSecret,
} from './schema.ts';

const mostWebhooks = 20;

export function webhookRoutes(app: App, ctx: Context): void {
  app.addSchema(Webhook);
  app.addSchema(WebhookWithSecret);
  const One = dataOf(Type.Ref('Webhook#'));
  const tags = ['Webhooks'];

  app.get(
    '/webhooks',
    {
      config: { scope: 'webhooks:read' },
      schema: {
        operationId: 'listWebhooks',
        summary: 'List webhooks',
        description: 'Newest first. Secrets are not shown again.',
        tags,
        querystring: WebhookQuery,
        response: { 200: listOf(Type.Ref('Webhook#')) },
      },
    },
    async (request, reply) => {
      const page = pageOf(request.query, defaultPerPage);
      const { rows, total } = await listWebhooks(ctx.db, request.caller.workspaceId, page);
      return sendPage(request, reply, page, { rows: rows.map(webhookOf), total });
    },
  );

  app.get(
    '/webhooks/:id',
    {
      config: { scope: 'webhooks:read' },
      schema: {
        operationId: 'getWebhook',
        summary: 'Read a webhook',
        tags,
        params: IdParams,
        response: { 200: One },
      },
    },
    async (request) => {
      const { workspaceId } = request.caller;
      const row = await byId('webhook', request.params.id, (id) => findWebhook(ctx.db, workspaceId, id));
      return { data: webhookOf(row) };
    },
  );

  app.post(
    '/webhooks',
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'createWebhook',
        summary: 'Register a webhook',
        description: 'The answer holds the signing secret. It is shown this once.',
        tags,
        body: NewWebhook,
        response: { 201: dataOf(Type.Ref('WebhookWithSecret#')) },
      },
    },
    async (request, reply) => {
      const { workspaceId } = request.caller;
      await ctx.egress.checkUrl('url', request.body.url);
      return answerOnce(ctx, request, reply, async (tx) => {
        if ((await countWebhooksLocked(tx, workspaceId)) >= mostWebhooks) {
          throw invalid('url', 'limit', `A workspace can have ${mostWebhooks} webhooks; delete one first`);
        }
        const secret = newSigningSecret();
        const row = await insertWebhook(tx, workspaceId, {
          url: request.body.url,
          events: [...new Set(request.body.events)],
          sealedSecret: ctx.vault.seal(secret),
        });
        return { status: 201, data: { ...webhookOf(row), secret } };
      });
    },
  );

  app.post(
    '/webhooks/:id/rotate_secret',
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'Replace the signing secret',
        description:
          'The answer holds the new secret, shown this once. `X-Service-Signature` uses it at once; for 24 hours ' +
          '`X-Service-Signature-Previous` and a second entry in `webhook-signature` carry the old one.',
        tags,
        params: IdParams,
        response: { 201: dataOf(Type.Ref('WebhookWithSecret#')) },
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, async (tx) => {
        const { workspaceId } = request.caller;
        const secret = newSigningSecret();
        const row = await byId('webhook', request.params.id, (id) =>
          rotateSecret(tx, workspaceId, id, ctx.vault.seal(secret)),
        );
        return { status: 201, data: { ...webhookOf(row), secret } };
      }),
  );

  app.patch(
    '/webhooks/:id',
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'updateWebhook',
        summary: 'Update a webhook',
        description: 'Only the fields sent change. `events` replaces the list.',
        tags,
        params: IdParams,
        body: WebhookUpdate,
        response: { 200: One },
      },
    },
    async (request) => {
      const { url, events } = request.body;
      const { workspaceId } = request.caller;
      const { id } = await byId('webhook', request.params.id, (uuid) =>
        findWebhook(ctx.db, workspaceId, uuid),
      );
      if (url !== undefined) await ctx.egress.checkUrl('url', url);
      const row = await ctx.db.transaction((tx) =>
        updateWebhook(tx, workspaceId, id, {
          url: url ?? null,
          events: events ? [...new Set(events)] : null,
        }),
      );
      if (!row) throw notFound('Webhook');
      return { data: webhookOf(row) };
    },
  );

  app.delete(
    '/webhooks/:id',
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        tags,
        params: IdParams,
        response: { 200: dataOf(Deleted) },
      },
    },
    async (request) => {
      const { workspaceId } = request.caller;
      await byId('webhook', request.params.id, (id) =>
        ctx.db.transaction((tx) => deleteWebhook(tx, workspaceId, id)),
      );
      return { data: { id: request.params.id, deleted: true } };
    },
  );
}

function webhookOf({ id, url, events, failing_since, created_at }: WebhookRow): Webhook {
  return { id: toId('webhook', id), url, events, failing_since, created_at };
}
