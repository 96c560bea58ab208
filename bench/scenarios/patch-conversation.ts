import type { LoadScenario } from './load-scenario.ts';

const most = 256;

/** Assigned to one agent and then to the other, so that each is a change with its activity message and its event. */
export const patchConversation: LoadScenario = {
  name: 'patch_conversation',
  calls: ({ openConversationIds, agentIds }, whose) =>
    openConversationIds
      .filter((_, i) => i % 2 === (whose === 'ours' ? 0 : 1))
      .slice(0, most)
      .map((id) => ({
        method: 'PATCH',
        path: `/v1/conversations/${id}`,
        body: agentIds.slice(0, 2).map((assigneeId) => JSON.stringify({ assignee_id: assigneeId })),
      })),
  limit: 'sql',
};
