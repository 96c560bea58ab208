import Type from 'typebox';
import { findChannel } from '../../channels/queries.ts';
import type { Context } from '../../context.ts';
import { invalid } from '../../errors.ts';
import { type App, dataOf, IdParams } from '../../http/route.ts';
import { byId } from '../../references.ts';
import { openRow } from '../callable.ts';
import { PlatformError } from '../connector.ts';
import type { Connectors } from '../registry.ts';
import { syncTemplates } from './sync.ts';

const Result = Type.Object({
  created: Type.Integer(),
  updated: Type.Integer(),
  archived: Type.Integer({ description: 'Gone from the platform.' }),
});

export function templateSyncRoutes(app: App, ctx: Context, connectors: Connectors): void {
  app.post(
    '/channels/:id/sync_templates',
    {
      config: { scope: 'settings:write' },
      schema: {
        operationId: 'syncTemplates',
        summary: 'Fetch the templates of a channel from its platform',
        description:
          'Language, category and approval come from the platform, into `/templates`. It also happens by itself every ' +
          'ten minutes.',
        tags: ['Settings'],
        params: IdParams,
        response: { 200: dataOf(Result) },
      },
    },
    async (request) => {
      const { workspaceId } = request.caller;
      const row = await byId('channel', request.params.id, (id) => findChannel(ctx.db, workspaceId, id));
      const channel = openRow(ctx.vault, { ...row, workspace_id: workspaceId });
      const result = await syncTemplates(ctx, connectors, channel).catch((error: unknown) => {
        throw error instanceof PlatformError ? invalid('id', 'platform', error.message) : error;
      });
      if (!result) {
        const message =
          'Only a whatsapp channel with business_account_id and a valid access_token has templates to fetch';
        throw invalid('id', 'templates', message);
      }
      return { data: result };
    },
  );
}
