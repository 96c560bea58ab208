import type { Context } from '../context.ts';
import { archivedAnswer, defaultPerPage, describeOperations } from '../http/archivable.ts';
import { answerOnce } from '../http/idempotency.ts';
import { type App, sendPage } from '../http/route.ts';
import { pageOf } from '../page.ts';
import { byId } from '../references.ts';
import { findTemplate, listTemplates } from './queries.ts';
import { NewTemplate, Template, TemplateUpdate } from './schema.ts';
import { changeTemplate, createTemplate, templateOf } from './templates.ts';

const operations = describeOperations({ $id: 'Template', one: 'a template', many: 'templates' });

export function templateRoutes(app: App, ctx: Context): void {
  app.addSchema(Template);

  app.get(
    '/templates',
    { config: { scope: 'settings:read' }, schema: operations.list },
    async (request, reply) => {
      const { archived = false } = request.query;
      const page = pageOf(request.query, defaultPerPage);
      const { rows, total } = await listTemplates(ctx.db, request.caller.workspaceId, archived, page);
      return sendPage(request, reply, page, { rows: rows.map(templateOf), total });
    },
  );

  app.post(
    '/templates',
    { config: { scope: 'settings:write' }, schema: { ...operations.create, body: NewTemplate } },
    (request, reply) =>
      answerOnce(ctx, request, reply, async (tx) => ({
        status: 201,
        data: templateOf(await createTemplate(tx, request.caller.workspaceId, request.body)),
      })),
  );

  app.get(
    '/templates/:id',
    { config: { scope: 'settings:read' }, schema: operations.read },
    async (request) => {
      const { workspaceId } = request.caller;
      const row = await byId('template', request.params.id, (id) => findTemplate(ctx.db, workspaceId, id));
      return { data: templateOf(row) };
    },
  );

  app.patch(
    '/templates/:id',
    {
      config: { scope: 'settings:write' },
      schema: {
        ...operations.update,
        description:
          'Only the fields sent change. Where a platform approves templates, an edited one is `pending` again.',
        body: TemplateUpdate,
      },
    },
    async (request) => {
      const { workspaceId } = request.caller;
      const row = await byId('template', request.params.id, (id) =>
        ctx.db.transaction((tx) => changeTemplate(tx, workspaceId, id, request.body)),
      );
      return { data: templateOf(row) };
    },
  );

  app.delete(
    '/templates/:id',
    { config: { scope: 'settings:write' }, schema: operations.archive },
    async (request) => {
      const { workspaceId } = request.caller;
      await byId('template', request.params.id, (id) =>
        ctx.db.transaction((tx) => changeTemplate(tx, workspaceId, id, { archived: true })),
      );
      return archivedAnswer(request.params.id);
    },
  );
}
