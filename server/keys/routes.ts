import Type from 'typebox';
import type { Context } from '../context.ts';
import { answerOnce } from '../http/idempotency.ts';
import { type App, dataOf, IdParams, listOf, sendPage } from '../http/route.ts';
import { pageOf, pageQuery } from '../page.ts';
import { byId } from '../references.ts';
import { apiKeyOf, changeKey, createKey, endKey } from './keys.ts';
import { findKey, listKeys } from './queries.ts';
import { ApiKey, KeyInput, KeyUpdate, NewApiKey } from './schema.ts';

const defaultPerPage = 25;
const tags = ['API keys'];

export function keyRoutes(app: App, ctx: Context): void {
  app.addSchema(ApiKey);
  app.addSchema(NewApiKey);
  const One = dataOf(Type.Ref('ApiKey#'));

  app.get(
    '/api_keys',
    {
      config: { scope: 'settings:read' },
      schema: {
        operationId: 'listApiKeys',
        summary: 'List API keys',
        description: 'Newest first, revoked ones too.',
        tags,
        querystring: Type.Object(pageQuery(defaultPerPage)),
        response: { 200: listOf(Type.Ref('ApiKey#')) },
      },
    },
    async (request, reply) => {
      const page = pageOf(request.query, defaultPerPage);
      const { rows, total } = await listKeys(ctx.db, request.caller.workspaceId, page);
      return sendPage(request, reply, page, { rows: rows.map(apiKeyOf), total });
    },
  );

  app.post(
    '/api_keys',
    {
      config: { scope: 'settings:write' },
      schema: {
        operationId: 'createApiKey',
        summary: 'Create an API key',
        description: '`key` appears only in this answer. A key cannot give scopes it lacks.',
        tags,
        body: KeyInput,
        response: { 201: dataOf(Type.Ref('NewApiKey#')) },
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, async (tx) => ({
        status: 201,
        data: await createKey(tx, request.caller, request.body),
      })),
  );

  app.get(
    '/api_keys/:id',
    {
      config: { scope: 'settings:read' },
      schema: {
        operationId: 'getApiKey',
        summary: 'Read an API key',
        tags,
        params: IdParams,
        response: { 200: One },
      },
    },
    async (request) => {
      const { workspaceId } = request.caller;
      const row = await byId('key', request.params.id, (id) => findKey(ctx.db, workspaceId, id));
      return { data: apiKeyOf(row) };
    },
  );

  app.patch(
    '/api_keys/:id',
    {
      config: { scope: 'settings:write' },
      schema: {
        operationId: 'updateApiKey',
        summary: 'Rename an API key or change when it expires',
        description: 'Only the fields sent change. Changing `expires_at` needs every scope the key has.',
        tags,
        params: IdParams,
        body: KeyUpdate,
        response: { 200: One },
      },
    },
    async (request) => {
      const row = await byId('key', request.params.id, (id) =>
        ctx.db.transaction((tx) => changeKey(tx, request.caller, id, request.body)),
      );
      return { data: apiKeyOf(row) };
    },
  );

  app.delete(
    '/api_keys/:id',
    {
      config: { scope: 'settings:write' },
      schema: {
        operationId: 'revokeApiKey',
        summary: 'Revoke an API key',
        description:
          'It stops working within five seconds and cannot be brought back. It stays listed. ' +
          'A key cannot revoke one that has scopes it lacks.',
        tags,
        params: IdParams,
        response: { 200: dataOf(Type.Object({ id: Type.String(), revoked: Type.Literal(true) })) },
      },
    },
    async (request) => {
      await byId('key', request.params.id, (id) =>
        ctx.db.transaction((tx) => endKey(tx, request.caller, id)),
      );
      return { data: { id: request.params.id, revoked: true } };
    },
  );
}
