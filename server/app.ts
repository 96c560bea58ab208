import type { Context } from './context.ts';
import { agentRoutes } from './agents/routes.ts';
import { channelRoutes } from './channels/routes.ts';
import { customAttributeRoutes } from './custom_attributes/routes.ts';
import { keyRoutes } from './keys/routes.ts';
import { labelRoutes } from './labels/routes.ts';
import { teamRoutes } from './teams/routes.ts';
import { templateRoutes } from './templates/routes.ts';
import { workspaceRoutes } from './workspaces/routes.ts';
import { inboundRoutes } from './connectors/inbound/routes.ts';
import { webchatPages } from './connectors/webchat/pages.ts';
import { webchatRoutes } from './connectors/webchat/routes.ts';
import { mediaRoutes } from './connectors/media/routes.ts';
import { createConnectors, stopConnectors } from './connectors/registry.ts';
import { templateSyncRoutes } from './connectors/templates/routes.ts';
import { platformWebhookRoutes } from './connectors/webhook/routes.ts';
import { contactRoutes } from './contacts/routes.ts';
import { messageRoutes } from './conversations/messages/routes.ts';
import { conversationRoutes } from './conversations/routes.ts';
import { deliveryRoutes } from './webhooks/deliveries/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { useDocumentation } from './http/openapi/routes.ts';
import { operationRoutes } from './http/operations.ts';
import { useConventions, createServer } from './http/server.ts';
import type { App } from './http/route.ts';

/** The whole HTTP interface. Every route module stands on one line. */
export async function createApp(ctx: Context): Promise<App> {
  const app = createServer(ctx);
  const connectors = createConnectors(ctx);
  app.addHook('onClose', () => stopConnectors(connectors));
  await operationRoutes(app, ctx);
  await app.register(
    async (v1) => {
      if (ctx.config.role === 'worker') return; // it answers monitoring, nothing else
      await useConventions(v1, ctx);
      await useDocumentation(v1);
      conversationRoutes(v1, ctx);
      messageRoutes(v1, ctx);
      contactRoutes(v1, ctx);
      workspaceRoutes(v1, ctx);
      keyRoutes(v1, ctx);
      channelRoutes(v1, ctx);
      agentRoutes(v1, ctx);
      teamRoutes(v1, ctx);
      templateRoutes(v1, ctx);
      labelRoutes(v1, ctx);
      customAttributeRoutes(v1, ctx);
      webhookRoutes(v1, ctx);
      deliveryRoutes(v1, ctx);
      inboundRoutes(v1, ctx);
      await webchatRoutes(v1, ctx);
      await webchatPages(v1);
      await platformWebhookRoutes(v1, ctx, connectors);
      mediaRoutes(v1, ctx, connectors);
      templateSyncRoutes(v1, ctx, connectors);
    },
    { prefix: '/v1' },
  );
  await app.ready();
  return app;
}
