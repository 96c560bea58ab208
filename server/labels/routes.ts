import type { Context } from '../context.ts';
import { archivedAnswer, defaultPerPage, describeOperations } from '../http/archivable.ts';
import { answerOnce } from '../http/idempotency.ts';
import { type App, sendPage } from '../http/route.ts';
import { toId } from '../ids.ts';
import { pageOf } from '../page.ts';
import { byId } from '../references.ts';
import { findLabel, insertLabel, listLabels, type LabelRow, updateLabel } from './queries.ts';
import { NewLabel, Label, LabelUpdate } from './schema.ts';

const operations = describeOperations({ $id: 'Label', one: 'a label', many: 'labels' });

export function labelRoutes(app: App, ctx: Context): void {
  app.addSchema(Label);

  app.get(
    '/labels',
    { config: { scope: 'settings:read' }, schema: operations.list },
    async (request, reply) => {
      const { archived = false } = request.query;
      const page = pageOf(request.query, defaultPerPage);
      const { rows, total } = await listLabels(ctx.db, request.caller.workspaceId, archived, page);
      return sendPage(request, reply, page, { rows: rows.map(labelOf), total });
    },
  );

  app.post(
    '/labels',
    { config: { scope: 'settings:write' }, schema: { ...operations.create, body: NewLabel } },
    (request, reply) =>
      answerOnce(ctx, request, reply, async (tx) => ({
        status: 201,
        data: labelOf(await insertLabel(tx, request.caller.workspaceId, request.body)),
      })),
  );

  app.get('/labels/:id', { config: { scope: 'settings:read' }, schema: operations.read }, async (request) => {
    const { workspaceId } = request.caller;
    const row = await byId('label', request.params.id, (id) => findLabel(ctx.db, workspaceId, id));
    return { data: labelOf(row) };
  });

  app.patch(
    '/labels/:id',
    { config: { scope: 'settings:write' }, schema: { ...operations.update, body: LabelUpdate } },
    async (request) => {
      const { workspaceId } = request.caller;
      const row = await byId('label', request.params.id, (id) =>
        ctx.db.transaction((tx) => updateLabel(tx, workspaceId, id, request.body)),
      );
      return { data: labelOf(row) };
    },
  );

  app.delete(
    '/labels/:id',
    { config: { scope: 'settings:write' }, schema: operations.archive },
    async (request) => {
      const { workspaceId } = request.caller;
      await byId('label', request.params.id, (id) =>
        ctx.db.transaction((tx) => updateLabel(tx, workspaceId, id, { archived: true })),
      );
      return archivedAnswer(request.params.id);
    },
  );
}

const labelOf = (row: LabelRow): Label => ({
  id: toId('label', row.id),
  name: row.name,
  color: row.color,
  archived: row.archived,
  created_at: row.created_at,
});
