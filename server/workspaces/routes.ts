import Type from 'typebox';
import type { Context } from '../context.ts';
import { notFound } from '../errors.ts';
import { type App, dataOf } from '../http/route.ts';
import { toId } from '../ids.ts';
import { findWorkspace, type WorkspaceRow } from './queries.ts';
import { Workspace } from './schema.ts';

export function workspaceRoutes(app: App, ctx: Context): void {
  app.addSchema(Workspace);

  app.get(
    '/workspace',
    {
      config: { scope: 'settings:read' },
      schema: {
        operationId: 'getWorkspace',
        summary: 'Read the workspace of the API key',
        tags: ['Settings'],
        response: { 200: dataOf(Type.Ref('Workspace#')) },
      },
    },
    async (request) => {
      const row = await findWorkspace(ctx.db, request.caller.workspaceId);
      if (!row) throw notFound('Workspace');
      return { data: workspaceOf(row) };
    },
  );
}

const workspaceOf = (row: WorkspaceRow): Workspace => ({
  id: toId('workspace', row.id),
  name: row.name,
  plan: row.plan,
  created_at: row.created_at,
});
