import { Counter } from '@prometheus-io/client';
import type { ChannelType } from '../../channels/types.ts';
import type { Context } from '../../context.ts';

type Taken = 'message' | 'repeat' | 'status' | 'unknown_status';

export function createWebhookMetrics({ metrics: { registry } }: Pick<Context, 'metrics'>) {
  const registers = [registry];
  const taken = new Counter({
    name: 'inbox_channel_received_total',
    help: 'What platforms sent and the service took, by type of channel and kind.',
    labelNames: ['type', 'kind'] as const,
    registers,
  });
  const ignored = new Counter({
    name: 'inbox_channel_ignored_total',
    help: 'What platforms sent and the service refused or left aside, by type of channel and reason.',
    labelNames: ['type', 'reason'] as const,
    registers,
  });
  return {
    taken: (type: ChannelType, kind: Taken, count: number) => taken.inc({ type, kind }, count),
    ignored: (type: ChannelType, reason: string, count: number) => ignored.inc({ type, reason }, count),
  };
}
