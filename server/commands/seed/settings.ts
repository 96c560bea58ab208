import { insertAgent, listAgents } from '../../agents/queries.ts';
import { insertChannel, listChannels } from '../../channels/queries.ts';
import type { ChannelType } from '../../channels/types.ts';
import type { Db } from '../../db/client.ts';
import { insertLabel, listLabels } from '../../labels/queries.ts';
import { insertTeam, listTeams } from '../../teams/queries.ts';

/** What conversations point to. */
export interface Settings {
  channels: { id: string; type: ChannelType }[];
  agents: { id: string; name: string }[];
  teamIds: string[];
  labelIds: string[];
}

const firstPage = { page: 1, perPage: 100, offset: 0 };

const newAgents = [
  { name: 'Amara Okafor', email: 'amara@agents.example', role: 'admin' },
  { name: 'Bruno Castellanos', email: 'bruno@agents.example', role: 'agent' },
  { name: 'Chiara Lombardi', email: 'chiara@agents.example', role: 'agent' },
  { name: 'Dariusz Wójcik', email: 'dariusz@agents.example', role: 'agent' },
  { name: '江口 恵美', email: 'emi@agents.example', role: 'agent' },
  { name: 'Fadi Haddad', email: 'fadi@agents.example', role: 'agent' },
] as const;

const newChannels = [
  { type: 'api', name: 'Shop' },
  { type: 'whatsapp', name: 'WhatsApp' },
  { type: 'webchat', name: 'Website chat' },
] as const;

const newLabels = [
  { name: 'billing', color: '#d64545' },
  { name: 'shipping', color: '#2f855a' },
  { name: 'returns', color: '#b7791f' },
  { name: 'bug', color: '#6b46c1' },
  { name: 'feedback', color: '#2b6cb0' },
  { name: 'VIP', color: '#c05621' },
  { name: 'spam', color: '#718096' },
];

const newTeams = [{ name: 'Support' }, { name: 'Sales' }];

/** The workspace's own agents, channels, labels and teams; where it has none of a kind, a few are made. */
export async function ensureSettings(db: Db, workspaceId: string): Promise<Settings> {
  return db.transaction(async (tx) => {
    const channels = (await listChannels(tx, workspaceId, false, firstPage)).rows;
    if (channels.length === 0) {
      for (const channel of newChannels) {
        const values = { ...channel, after_resolved: 'reopen', settings: {}, sealed_settings: null } as const;
        channels.push(await insertChannel(tx, workspaceId, values));
      }
    }
    const agents = (await listAgents(tx, workspaceId, false, firstPage)).rows;
    if (agents.length === 0) {
      for (const agent of newAgents) agents.push(await insertAgent(tx, workspaceId, agent));
    }
    const labels = (await listLabels(tx, workspaceId, false, firstPage)).rows;
    if (labels.length === 0) {
      for (const label of newLabels) labels.push(await insertLabel(tx, workspaceId, label));
    }
    const teams = (await listTeams(tx, workspaceId, false, firstPage)).rows;
    if (teams.length === 0) {
      for (const team of newTeams) teams.push(await insertTeam(tx, workspaceId, team));
    }
    return {
      channels: oldestFirst(channels),
      agents: oldestFirst(agents),
      teamIds: oldestFirst(teams).map(({ id }) => id),
      labelIds: oldestFirst(labels).map(({ id }) => id),
    };
  });
}

const oldestFirst = <Row extends { id: string }>(rows: Row[]): Row[] =>
  rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
