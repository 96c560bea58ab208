import type { Context } from '../context.ts';
import { archivedAnswer, defaultPerPage, describeOperations } from '../http/archivable.ts';
import { answerOnce } from '../http/idempotency.ts';
import { type App, sendPage } from '../http/route.ts';
import { pageOf } from '../page.ts';
import { byId } from '../references.ts';
import { changeChannel, channelOf, createChannel } from './channels.ts';
import { findChannel, listChannels } from './queries.ts';
import { Channel, ChannelUpdate, NewChannel } from './schema.ts';
import { checkSettings } from './settings.ts';

const operations = describeOperations({ $id: 'Channel', one: 'a channel', many: 'channels' });

export function channelRoutes(app: App, ctx: Context): void {
  app.addSchema(Channel);

  app.get(
    '/channels',
    { config: { scope: 'settings:read' }, schema: operations.list },
    async (request, reply) => {
      const { archived = false } = request.query;
      const page = pageOf(request.query, defaultPerPage);
      const { rows, total } = await listChannels(ctx.db, request.caller.workspaceId, archived, page);
      return sendPage(request, reply, page, { rows: rows.map((row) => channelOf(row, ctx.vault)), total });
    },
  );

  app.post(
    '/channels',
    { config: { scope: 'settings:write' }, schema: { ...operations.create, body: NewChannel } },
    async (request, reply) => {
      await checkSettings(ctx.egress, request.body.settings);
      return answerOnce(ctx, request, reply, async (tx) => {
        const data = await createChannel(tx, request.caller.workspaceId, request.body, ctx.vault);
        return { status: 201, data };
      });
    },
  );

  app.get(
    '/channels/:id',
    { config: { scope: 'settings:read' }, schema: operations.read },
    async (request) => {
      const { workspaceId } = request.caller;
      const row = await byId('channel', request.params.id, (id) => findChannel(ctx.db, workspaceId, id));
      return { data: channelOf(row, ctx.vault) };
    },
  );

  app.patch(
    '/channels/:id',
    {
      config: { scope: 'settings:write' },
      schema: {
        ...operations.update,
        description: 'Only the fields sent change; of `settings` only those named. `type` cannot change.',
        body: ChannelUpdate,
      },
    },
    async (request) => {
      const { workspaceId } = request.caller;
      await checkSettings(ctx.egress, request.body.settings);
      const data = await byId('channel', request.params.id, (id) =>
        ctx.db.transaction((tx) => changeChannel(tx, workspaceId, id, request.body, ctx.vault)),
      );
      return { data };
    },
  );

  app.delete(
    '/channels/:id',
    { config: { scope: 'settings:write' }, schema: operations.archive },
    async (request) => {
      const { workspaceId } = request.caller;
      await byId('channel', request.params.id, (id) =>
        ctx.db.transaction((tx) => changeChannel(tx, workspaceId, id, { archived: true }, ctx.vault)),
      );
      return archivedAnswer(request.params.id);
    },
  );
}
