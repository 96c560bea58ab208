import type { Context } from '../context.ts';
import { archivedAnswer, defaultPerPage, describeOperations } from '../http/archivable.ts';
import { answerOnce } from '../http/idempotency.ts';
import { type App, sendPage } from '../http/route.ts';
import { toId } from '../ids.ts';
import { pageOf } from '../page.ts';
import { byId } from '../references.ts';
import { findTeam, insertTeam, listTeams, type TeamRow, updateTeam } from './queries.ts';
import { NewTeam, Team, TeamUpdate } from './schema.ts';

const operations = describeOperations({ $id: 'Team', one: 'a team', many: 'teams' });

export function teamRoutes(app: App, ctx: Context): void {
  app.addSchema(Team);

  app.get(
    '/teams',
    { config: { scope: 'settings:read' }, schema: operations.list },
    async (request, reply) => {
      const { archived = false } = request.query;
      const page = pageOf(request.query, defaultPerPage);
      const { rows, total } = await listTeams(ctx.db, request.caller.workspaceId, archived, page);
      return sendPage(request, reply, page, { rows: rows.map(teamOf), total });
    },
  );

  app.post(
    '/teams',
    { config: { scope: 'settings:write' }, schema: { ...operations.create, body: NewTeam } },
    (request, reply) =>
      answerOnce(ctx, request, reply, async (tx) => ({
        status: 201,
        data: teamOf(await insertTeam(tx, request.caller.workspaceId, request.body)),
      })),
  );

  app.get('/teams/:id', { config: { scope: 'settings:read' }, schema: operations.read }, async (request) => {
    const { workspaceId } = request.caller;
    const row = await byId('team', request.params.id, (id) => findTeam(ctx.db, workspaceId, id));
    return { data: teamOf(row) };
  });

  app.patch(
    '/teams/:id',
    { config: { scope: 'settings:write' }, schema: { ...operations.update, body: TeamUpdate } },
    async (request) => {
      const { workspaceId } = request.caller;
      const row = await byId('team', request.params.id, (id) =>
        ctx.db.transaction((tx) => updateTeam(tx, workspaceId, id, request.body)),
      );
      return { data: teamOf(row) };
    },
  );

  app.delete(
    '/teams/:id',
    { config: { scope: 'settings:write' }, schema: operations.archive },
    async (request) => {
      const { workspaceId } = request.caller;
      await byId('team', request.params.id, (id) =>
        ctx.db.transaction((tx) => updateTeam(tx, workspaceId, id, { archived: true })),
      );
      return archivedAnswer(request.params.id);
    },
  );
}

const teamOf = (row: TeamRow): Team => ({
  id: toId('team', row.id),
  name: row.name,
  archived: row.archived,
  created_at: row.created_at,
});
