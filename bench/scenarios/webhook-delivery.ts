import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { median, spreadOf } from '../sample.ts';
import type { Scenario } from '../scenario.ts';
import { measureDelivery } from '../webhooks/delivery.ts';

export const webhookDelivery: Scenario = {
  name: 'webhook_delivery',
  async measure({ timing, folder, receiver }) {
    const env = {
      ...receiver.env,
      INBOX_DATA_DIR: join(folder, 'deliveries'),
      INBOX_API_KEY: `bench_${randomBytes(16).toString('hex')}`,
    };
    const { deliveries: events, repetitions } = timing;
    const { ours, bare } = await measureDelivery(env, receiver, { events, repetitions });
    const [value, limit] = [median(ours), median(bare)];
    const spreads = { spread: spreadOf(ours), limit_spread: spreadOf(bare) };
    return {
      value,
      unit: 'deliveries/s',
      limit,
      ratio: value / limit,
      against: 'a bare undici loop',
      ...spreads,
    };
  },
};
