import type { Call } from '../load.ts';
import type { Scenario } from '../scenario.ts';
import type { Seeded } from '../seeded.ts';
import { createContact } from './create-contact.ts';
import { deepPage } from './deep-page.ts';
import { getConversation } from './get-conversation.ts';
import { growthOf } from './growth.ts';
import { inboundMessage } from './inbound-message.ts';
import { listConversations } from './list-conversations.ts';
import { lastPageOfMessages, listMessages } from './list-messages.ts';
import { underLoad } from './load-scenario.ts';
import { memoryUnderLoad } from './memory-under-load.ts';
import { mixed, mixedTwoProcesses } from './mixed.ts';
import { patchConversation } from './patch-conversation.ts';
import { coldStart, idleMemory } from './restart.ts';
import { searchBesideRead, searchContacts } from './search-contacts.ts';
import { sendMessage } from './send-message.ts';
import { walkCursor } from './walk-cursor.ts';
import { webhookDelivery } from './webhook-delivery.ts';

const reads = [...listConversations, getConversation, ...listMessages, ...searchContacts];
const writes = [sendMessage, inboundMessage, createContact, patchConversation];

/** In this order: reads before writes change what they read; memory once all that has left its traces; restarts last. */
export const scenarios: Scenario[] = [
  ...reads.map(underLoad),
  lastPageOfMessages,
  searchBesideRead,
  deepPage,
  walkCursor,
  ...reads.map(growthOf),
  ...[...writes, mixed].map(underLoad),
  memoryUnderLoad,
  mixedTwoProcesses,
  coldStart,
  idleMemory,
  webhookDelivery,
];

/** Reads and writes of every kind. */
export const warmUpCalls = (seeded: Seeded): Call[] => mixed.calls(seeded, 'ours');
