import type { Context } from '../context.ts';
import { archivedAnswer, defaultPerPage, describeOperations } from '../http/archivable.ts';
import { answerOnce } from '../http/idempotency.ts';
import { type App, sendPage } from '../http/route.ts';
import { toId } from '../ids.ts';
import { pageOf } from '../page.ts';
import { byId } from '../references.ts';
import { findAgent, insertAgent, listAgents, type AgentRow, updateAgent } from './queries.ts';
import { NewAgent, Agent, AgentUpdate } from './schema.ts';

const operations = describeOperations({ $id: 'Agent', one: 'an agent', many: 'agents' });

export function agentRoutes(app: App, ctx: Context): void {
  app.addSchema(Agent);

  app.get(
    '/agents',
    { config: { scope: 'settings:read' }, schema: operations.list },
    async (request, reply) => {
      const { archived = false } = request.query;
      const page = pageOf(request.query, defaultPerPage);
      const { rows, total } = await listAgents(ctx.db, request.caller.workspaceId, archived, page);
      return sendPage(request, reply, page, { rows: rows.map(agentOf), total });
    },
  );

  app.post(
    '/agents',
    { config: { scope: 'settings:write' }, schema: { ...operations.create, body: NewAgent } },
    (request, reply) =>
      answerOnce(ctx, request, reply, async (tx) => ({
        status: 201,
        data: agentOf(await insertAgent(tx, request.caller.workspaceId, request.body)),
      })),
  );

  app.get('/agents/:id', { config: { scope: 'settings:read' }, schema: operations.read }, async (request) => {
    const { workspaceId } = request.caller;
    const row = await byId('agent', request.params.id, (id) => findAgent(ctx.db, workspaceId, id));
    return { data: agentOf(row) };
  });

  app.patch(
    '/agents/:id',
    { config: { scope: 'settings:write' }, schema: { ...operations.update, body: AgentUpdate } },
    async (request) => {
      const { workspaceId } = request.caller;
      const row = await byId('agent', request.params.id, (id) =>
        ctx.db.transaction((tx) => updateAgent(tx, workspaceId, id, request.body)),
      );
      return { data: agentOf(row) };
    },
  );

  app.delete(
    '/agents/:id',
    { config: { scope: 'settings:write' }, schema: operations.archive },
    async (request) => {
      const { workspaceId } = request.caller;
      await byId('agent', request.params.id, (id) =>
        ctx.db.transaction((tx) => updateAgent(tx, workspaceId, id, { archived: true })),
      );
      return archivedAnswer(request.params.id);
    },
  );
}

const agentOf = (row: AgentRow): Agent => ({
  id: toId('agent', row.id),
  name: row.name,
  email: row.email,
  role: row.role,
  archived: row.archived,
  created_at: row.created_at,
});
