import type { Tx } from '../db/client.ts';
import { emit } from '../events/emit.ts';
import type { Contact } from './schema.ts';

export function contactCreated(tx: Tx, workspaceId: string, contact: Contact): void {
  emit(tx, [{ workspaceId, type: 'contact.created', at: contact.created_at, data: { contact } }]);
}

export type ContactChanges = Record<string, { from: unknown; to: unknown }>;

export function contactUpdated(
  tx: Tx,
  workspaceId: string,
  contact: Contact,
  changes: ContactChanges,
  at: string,
): void {
  emit(tx, [{ workspaceId, type: 'contact.updated', at, data: { contact, changes } }]);
}
