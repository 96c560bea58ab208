import { isDeepStrictEqual } from 'node:util';
import { checkCustomAttributes } from '../custom_attributes/check.ts';
import type { Tx } from '../db/client.ts';
import { invalid } from '../errors.ts';
import { toId } from '../ids.ts';
import { tidyNames } from '../schema.ts';
import { type ContactChanges, contactCreated, contactUpdated } from './events.ts';
import { type ContactRow, type ContactValues, insertContact, lockContact, updateContact } from './queries.ts';
import type { Contact, ContactUpdate, NewContact } from './schema.ts';

export async function createContact(tx: Tx, workspaceId: string, input: NewContact): Promise<Contact> {
  const attributes = merge({}, input.custom_attributes ?? {});
  await checkCustomAttributes(tx, workspaceId, attributes);
  const row = await insertContact(tx, workspaceId, {
    name: input.name,
    phone: input.phone ?? null,
    email: input.email ?? null,
    company: input.company ?? null,
    tags: tidyNames(input.tags ?? []),
    custom_attributes: attributes,
  });
  const contact = contactOf(row);
  contactCreated(tx, workspaceId, contact);
  return contact;
}

/** Only what the input names changes. When nothing really does, nothing is written and no event is raised. */
export async function changeContact(
  tx: Tx,
  workspaceId: string,
  id: string,
  input: ContactUpdate,
): Promise<Contact | undefined> {
  const row = await lockContact(tx, workspaceId, id);
  if (!row) return undefined;
  const { now, ...before } = row;
  await checkCustomAttributes(tx, workspaceId, input.custom_attributes ?? {});
  const after: ContactValues = {
    name: input.name ?? before.name,
    phone: input.phone === undefined ? before.phone : input.phone,
    email: input.email === undefined ? before.email : input.email,
    company: input.company === undefined ? before.company : input.company,
    tags: input.tags ? tidyNames(input.tags) : before.tags,
    custom_attributes: merge(before.custom_attributes, input.custom_attributes ?? {}),
  };
  const changes = changesBetween(before, after);
  const contact = contactOf({ ...before, ...after });
  if (Object.keys(changes).length === 0) return contact;
  updateContact(tx, workspaceId, id, after);
  contactUpdated(tx, workspaceId, contact, changes, now);
  return contact;
}

export function contactOf(row: ContactRow): Contact {
  return {
    id: toId('contact', row.id),
    name: row.name,
    phone: row.phone,
    email: row.email,
    company: row.company,
    tags: row.tags,
    custom_attributes: row.custom_attributes,
    created_at: row.created_at,
  };
}

const mostAttributes = 100;
const mostAttributeBytes = 64 * 1024;

/** `null` removes a key. Entries are copied as data: a key named `__proto__` is a key like any other. */
function merge(before: Record<string, unknown>, named: Record<string, unknown>): Record<string, unknown> {
  const entries = new Map([...Object.entries(before), ...Object.entries(named)]);
  for (const [key, value] of entries) if (value === null) entries.delete(key);
  if (entries.size > mostAttributes) {
    throw invalid(
      'custom_attributes',
      'maxProperties',
      `custom_attributes can hold at most ${mostAttributes} keys`,
    );
  }
  for (const key of entries.keys()) {
    if (key.trim() !== '' && key.length <= 255) continue;
    throw invalid(
      'custom_attributes',
      'key',
      'custom_attributes needs keys of 1 to 255 characters that are not blank',
    );
  }
  const merged = Object.fromEntries(entries);
  if (Buffer.byteLength(JSON.stringify(merged)) > mostAttributeBytes) {
    throw invalid('custom_attributes', 'size', 'custom_attributes can hold at most 64 KiB of JSON in all');
  }
  return merged;
}

function changesBetween(before: ContactValues, after: ContactValues): ContactChanges {
  const fields = Object.keys(after) as (keyof ContactValues)[];
  const changed = fields.filter((field) => !isDeepStrictEqual(before[field], after[field]));
  return Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]));
}
