import { type Reader, statement } from '../db/client.ts';
import { ApiError, type Detail } from '../errors.ts';

export const attributeTypes = ['string', 'number', 'boolean', 'date'] as const;
export type AttributeType = (typeof attributeTypes)[number];

const definedTypes = statement<{ key: string; type: AttributeType }>(
  'custom_attributes.types',
  `select key, type from custom_attributes where workspace_id = $1 and key = any ($2) and not archived`,
);

/** Any key is welcome; one that the workspace has defined must have its type. `null` removes a key and always may. */
export async function checkCustomAttributes(
  db: Reader,
  workspaceId: string,
  attributes: Record<string, unknown>,
): Promise<void> {
  const keys = Object.keys(attributes);
  if (keys.length === 0) return;
  const given = new Map(Object.entries(attributes));
  const details: Detail[] = [];
  for (const { key, type } of await db.query(definedTypes, [workspaceId, keys])) {
    const value = given.get(key);
    if (value === null || hasType[type](value)) continue;
    const field = `custom_attributes.${key}`;
    details.push({ field, rule: 'type', message: `${field} is defined as a ${type} in this workspace` });
  }
  if (details.length > 0) {
    throw new ApiError('validation_error', details.map(({ message }) => message).join('; '), details);
  }
}

const hasType: Record<AttributeType, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  date: (value) => typeof value === 'string' && isDate(value),
};

/** `2026-11-15`, or a whole timestamp that begins with such a day. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)) return false;
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  return (
    !Number.isNaN(day.getTime()) &&
    day.toISOString().startsWith(text.slice(0, 10)) &&
    !Number.isNaN(Date.parse(text))
  );
}
