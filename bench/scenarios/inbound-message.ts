import type { LoadScenario } from './load-scenario.ts';

const customers = 100;

/** So many customers write again and again; each message has a name of its own, as platforms give it. */
export const inboundMessage: LoadScenario = {
  name: 'inbound_message',
  calls: ({ channelId, contacts }, whose) =>
    contacts
      .filter(({ phone }, i) => phone !== null && i % 2 === (whose === 'ours' ? 0 : 1))
      .slice(0, customers)
      .map(({ phone }) => ({
        method: 'POST',
        path: `/v1/channels/${channelId}/inbound`,
        body: JSON.stringify({ from: { phone }, content: 'Where is my order?', external_id: 'm-{n}' }),
      })),
  limit: 'sql',
};
