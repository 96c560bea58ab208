import type { Status } from '../../conversations/schema.ts';
import type { ContactPool } from './contacts.ts';
import type { Language } from './phrases.ts';
import type { Settings } from './settings.ts';
import type { UuidAt } from './uuids.ts';

type Agent = Settings['agents'][number];

export interface ConversationPlan {
  workspaceId: string;
  seed: number;
  /** How many the workspace has already: another run makes others. */
  before: number;
  /** How many messages each gets. */
  messageCounts: Uint32Array;
  nowMs: number;
  uuidAt: UuidAt;
  settings: Settings;
  contacts: ContactPool;
}

export interface Conversation {
  /** Its place among all the workspace has. */
  n: number;
  id: string;
  contactId: string;
  language: Language;
  channelId: string;
  assignee: Agent | null;
  /** Who answers: the assignee, or whoever was there. */
  speaker: Agent;
  teamId: string | null;
  status: Status;
  snoozedUntil: string | null;
  labelIds: string[];
  lastSeq: number;
  createdMs: number;
  updatedMs: number;
}
