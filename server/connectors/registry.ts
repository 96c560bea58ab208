import type { ChannelType } from '../channels/types.ts';
import type { Context } from '../context.ts';
import { createApiConnector } from './api/connector.ts';
import type { Connector } from './connector.ts';
import { createWebchatConnector } from './webchat/connector.ts';
import { createWhatsappConnector } from './whatsapp/connector.ts';

export type Connectors = Record<ChannelType, Connector>;

/** Every kind of channel stands on one line. */
export function createConnectors(ctx: Context): Connectors {
  return {
    api: createApiConnector(ctx),
    whatsapp: createWhatsappConnector(ctx),
    webchat: createWebchatConnector(ctx),
  };
}

export async function stopConnectors(connectors: Connectors): Promise<void> {
  await Promise.all(Object.values(connectors).map(async (connector) => connector.stop?.()));
}
