import Type from 'typebox';
import { idPattern, type Kind } from './ids.ts';

/** Pieces that the schemas of several resources share. */

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'UTC, with milliseconds.',
  examples: ['2026-11-15T09:30:00.000Z'],
});

export const NullableTimestamp = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'date-time',
});

/** An id in an answer. */
export const Id = (kind: Kind) => Type.String({ pattern: idPattern(kind) });

/** An id in a request: any string is read, since one that names nothing is a 404, a 422 or an empty list, not a 400. */
export const IdInput = (what: string) => Type.String({ description: `Id of ${what}.` });

export const NullableIdInput = (what: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description: `Id of ${what}; null unsets it.` });

const notBlank = { pattern: '\\S', 'x-rule': 'must not be empty' };

export const Name = Type.String({ maxLength: 255, ...notBlank });

export const NullableText = (maxLength: number, options: object = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength, ...options });

/** `{ id, name }` of something another record points to. */
export const Named = (kind: Kind) => Type.Object({ id: Id(kind), name: Type.String() });

export const orNull = <T>(schema: { type?: unknown } & object) =>
  Type.Unsafe<T | null>({ anyOf: [schema, { type: 'null' }] });

/** Label and tag names: trimmed, each once, in the order given. */
export const NameList = (what: string) =>
  Type.Array(Type.String({ maxLength: 255, ...notBlank }), {
    maxItems: 50,
    description: `${what} names; at most 50, created on first use.`,
  });

export function tidyNames(names: string[]): string[] {
  return [...new Set(names.map((name) => name.trim()))];
}
