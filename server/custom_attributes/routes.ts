import type { Context } from '../context.ts';
import { archivedAnswer, defaultPerPage, describeOperations } from '../http/archivable.ts';
import { answerOnce } from '../http/idempotency.ts';
import { type App, sendPage } from '../http/route.ts';
import { toId } from '../ids.ts';
import { pageOf } from '../page.ts';
import { byId } from '../references.ts';
import {
  findCustomAttribute,
  insertCustomAttribute,
  listCustomAttributes,
  type CustomAttributeRow,
  updateCustomAttribute,
} from './queries.ts';
import { NewCustomAttribute, CustomAttribute, CustomAttributeUpdate } from './schema.ts';

const operations = describeOperations({
  $id: 'CustomAttribute',
  one: 'a custom attribute',
  many: 'custom attributes',
});

export function customAttributeRoutes(app: App, ctx: Context): void {
  app.addSchema(CustomAttribute);

  app.get(
    '/custom_attributes',
    { config: { scope: 'settings:read' }, schema: operations.list },
    async (request, reply) => {
      const { archived = false } = request.query;
      const page = pageOf(request.query, defaultPerPage);
      const { rows, total } = await listCustomAttributes(ctx.db, request.caller.workspaceId, archived, page);
      return sendPage(request, reply, page, { rows: rows.map(customAttributeOf), total });
    },
  );

  app.post(
    '/custom_attributes',
    { config: { scope: 'settings:write' }, schema: { ...operations.create, body: NewCustomAttribute } },
    (request, reply) =>
      answerOnce(ctx, request, reply, async (tx) => ({
        status: 201,
        data: customAttributeOf(await insertCustomAttribute(tx, request.caller.workspaceId, request.body)),
      })),
  );

  app.get(
    '/custom_attributes/:id',
    { config: { scope: 'settings:read' }, schema: operations.read },
    async (request) => {
      const { workspaceId } = request.caller;
      const row = await byId('customAttribute', request.params.id, (id) =>
        findCustomAttribute(ctx.db, workspaceId, id),
      );
      return { data: customAttributeOf(row) };
    },
  );

  app.patch(
    '/custom_attributes/:id',
    { config: { scope: 'settings:write' }, schema: { ...operations.update, body: CustomAttributeUpdate } },
    async (request) => {
      const { workspaceId } = request.caller;
      const row = await byId('customAttribute', request.params.id, (id) =>
        ctx.db.transaction((tx) => updateCustomAttribute(tx, workspaceId, id, request.body)),
      );
      return { data: customAttributeOf(row) };
    },
  );

  app.delete(
    '/custom_attributes/:id',
    { config: { scope: 'settings:write' }, schema: operations.archive },
    async (request) => {
      const { workspaceId } = request.caller;
      await byId('customAttribute', request.params.id, (id) =>
        ctx.db.transaction((tx) => updateCustomAttribute(tx, workspaceId, id, { archived: true })),
      );
      return archivedAnswer(request.params.id);
    },
  );
}

const customAttributeOf = (row: CustomAttributeRow): CustomAttribute => ({
  id: toId('customAttribute', row.id),
  key: row.key,
  type: row.type,
  label: row.label,
  archived: row.archived,
  created_at: row.created_at,
});
