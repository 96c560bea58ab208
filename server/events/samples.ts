import type { EventType } from './names.ts';

/** What a test delivery carries: the shape of the real thing, about people who do not exist. */

const at = '2026-01-01T00:00:00.000Z';
const id = (prefix: string) => `${prefix}_00000000000000000000000000`;

const contact = {
  id: id('ct'),
  name: 'Sample Customer',
  phone: '+4915100000000',
  email: 'customer@example.com',
  company: null,
  tags: ['sample'],
  custom_attributes: {},
  created_at: at,
};

const conversation = {
  id: id('conv'),
  status: 'open',
  channel: { id: id('ch'), type: 'api', name: 'Sample channel' },
  contact: { id: contact.id, name: contact.name, phone: contact.phone },
  assignee: null,
  labels: [],
  created_at: at,
  updated_at: at,
  team: null,
  snoozed_until: null,
  reply_window: { open: true, expires_at: null },
};

const resolved = { ...conversation, status: 'resolved' };

export const samples: Record<EventType, object> = {
  'conversation.created': { conversation },
  'conversation.updated': { conversation: resolved, changes: { status: { from: 'open', to: 'resolved' } } },
  'conversation.resolved': { conversation: resolved },
  'message.created': {
    message: {
      id: id('msg'),
      type: 'incoming',
      content: 'This is a test delivery.',
      created_at: at,
      private: false,
      sender: { type: 'contact', id: contact.id, name: contact.name },
    },
    conversation: { id: conversation.id, status: conversation.status },
    contact: conversation.contact,
    channel: { id: conversation.channel.id, type: conversation.channel.type },
  },
  'contact.created': { contact },
  'contact.updated': { contact, changes: { tags: { from: [], to: ['sample'] } } },
};
