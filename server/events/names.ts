export const eventTypes = [
  'conversation.created',
  'conversation.updated',
  'conversation.resolved',
  'message.created',
  'contact.created',
  'contact.updated',
] as const;

export type EventType = (typeof eventTypes)[number];
