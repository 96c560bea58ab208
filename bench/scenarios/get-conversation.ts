import type { LoadScenario } from './load-scenario.ts';

export const getConversation: LoadScenario = {
  name: 'get_conversation',
  calls: ({ conversations }) =>
    conversations.map(({ id }) => ({ method: 'GET', path: `/v1/conversations/${id}` })),
  limit: 'http',
};
