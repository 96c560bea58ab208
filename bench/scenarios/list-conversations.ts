import type { Seeded } from '../seeded.ts';
import type { LoadScenario } from './load-scenario.ts';

const dayMs = 86_400_000;

/** The first page, with no filter and with each. */
const queries: Record<string, (seeded: Seeded) => string | string[]> = {
  list_conversations: () => '',
  list_conversations_status: () => '?status=open',
  list_conversations_channel: ({ channelId }) => `?channel_id=${channelId}`,
  list_conversations_assignee: ({ agentIds }) => `?assignee_id=${agentIds[0]}`,
  list_conversations_unassigned: () => '?assignee_id=unassigned',
  list_conversations_status_channel_assignee: ({ channelId, agentIds }) =>
    `?status=open&channel_id=${channelId}&assignee_id=${agentIds[0]}`,
  list_conversations_contact: ({ conversations }) =>
    conversations.map(({ contactId }) => `?contact_id=${contactId}`),
  list_conversations_team: ({ teamId }) => `?team_id=${teamId}`,
  list_conversations_label: ({ label }) => `?label=${encodeURIComponent(label)}`,
  list_conversations_updated_since: () => `?updated_since=${new Date(Date.now() - dayMs).toISOString()}`,
};

/** Filters that count what they find: one request may take a processor for a while. */
const counting = new Set([
  'list_conversations_team',
  'list_conversations_label',
  'list_conversations_updated_since',
]);

export const listConversations = Object.entries(queries).map(
  ([name, queriesOf]): LoadScenario => ({
    name,
    calls: (seeded) =>
      [queriesOf(seeded)].flat().map((query) => ({ method: 'GET', path: `/v1/conversations${query}` })),
    limit: 'sql',
    ...(counting.has(name) && { connections: 2 }),
  }),
);
