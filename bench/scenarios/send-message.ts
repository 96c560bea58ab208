import { call } from '../api.ts';
import type { LoadScenario } from './load-scenario.ts';

const body = JSON.stringify({ content: 'Your order left this morning and arrives tomorrow.' });

/** Durable, and with one webhook subscribed, whose deliveries the service sends meanwhile. */
export const sendMessage: LoadScenario = {
  name: 'send_message',
  calls: ({ openConversationIds }) =>
    openConversationIds.map((id) => ({ method: 'POST', path: `/v1/conversations/${id}/messages`, body })),
  limit: 'sql',
  async prepare({ receiver }, seeded) {
    const [key] = seeded.keys as [string];
    const webhooks = () => `${seeded.service.origin}/v1/webhooks`; // its service may be another one at the end
    const { data } = await call('POST', webhooks(), key, {
      url: `${receiver.url}sent`,
      events: ['message.created'],
    });
    return async () => void (await call('DELETE', `${webhooks()}/${data.id}`, key));
  },
};
