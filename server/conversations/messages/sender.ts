import type { Caller } from '../../http/authenticate.ts';
import { toId } from '../../ids.ts';

/** Who speaks: a customer, an agent, an API key that stands for no agent, or the service itself (no id). */
export interface Sender {
  type: 'contact' | 'agent' | 'bot';
  id: string | null;
  name: string;
}

export const systemSender: Sender = { type: 'bot', id: null, name: 'System' };

export function senderOf({ agent, keyId, keyName }: Caller): Sender {
  return agent ? { type: 'agent', ...agent } : { type: 'bot', id: keyId, name: keyName };
}

const kinds = { contact: 'contact', agent: 'agent', bot: 'key' } as const;

export function senderJson({ type, id, name }: Sender) {
  return { type, id: id === null ? 'bot_system' : toId(kinds[type], id), name };
}
