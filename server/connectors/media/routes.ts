import Type from 'typebox';
import { openSecrets } from '../../channels/settings.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors.ts';
import { type App, IdParams } from '../../http/route.ts';
import { byId } from '../../references.ts';
import type { Connector, Media } from '../connector.ts';
import type { Connectors } from '../registry.ts';
import { findMedia, type MediaRow } from './queries.ts';

/** Media of customers' messages stays with its platform; whoever may read the message may have it streamed. */
export function mediaRoutes(app: App, ctx: Context, connectors: Connectors): void {
  app.get(
    '/media/:id',
    {
      config: { scope: 'messages:read' },
      schema: {
        operationId: 'getMedia',
        summary: 'Stream the media of a message',
        description: 'What the `url` of an attachment leads to, fetched from the platform of its channel.',
        tags: ['Messages'],
        params: IdParams,
        produces: ['application/octet-stream'],
        response: {
          200: Type.String({ format: 'binary', description: 'The bytes, under their content type.' }),
        },
      },
    },
    async (request, reply) => {
      const { workspaceId } = request.caller;
      const row = await byId('media', request.params.id, (id) => findMedia(ctx.db, workspaceId, id));
      const { contentType, bytes, stream } = await open(connectors[row.channel_type], row, workspaceId);
      reply.header('content-type', contentType);
      if (bytes !== undefined) reply.header('content-length', bytes);
      reply.header('content-disposition', `attachment; filename*=UTF-8''${encoded(row.file_name)}`);
      reply.header('x-content-type-options', 'nosniff');
      reply.header('cache-control', 'private, max-age=3600');
      return reply.send(stream);
    },
  );

  async function open(connector: Connector, row: MediaRow, workspaceId: string): Promise<Media> {
    const channel = {
      workspaceId,
      id: row.channel_id,
      type: row.channel_type,
      settings: row.settings,
      secrets: openSecrets(ctx.vault, row.sealed_settings),
    };
    try {
      return await connector.openMedia!(channel, row.external_id);
    } catch (error) {
      ctx.log.warn({ err: error }, 'media could not be had from its platform');
      throw new ApiError('not_found', 'The platform no longer gives this media');
    }
  }
}

/** As RFC 8187 wants it, which lets fewer characters stand than URLs do. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
