import type { Schema } from './types.ts';

/** Keywords that only the validator reads, and names that only the resolver reads. */
const inner = new Set(['contentRule', '$id']);

/**
 * A schema as clients see it: the validator's own keywords are gone, and a rule that has a sentence of its own
 * (`x-rule`) tells it in the description.
 */
export function publicSchema<T>(node: T): T {
  if (Array.isArray(node)) return node.map((item: unknown) => publicSchema(item)) as T;
  if (typeof node !== 'object' || node === null) return node;
  const { 'x-rule': rule, ...rest } = node as Schema;
  const kept = Object.entries(rest)
    .filter(([key, value]) => !inner.has(key) || typeof value === 'object')
    .map(([key, value]) => [key, publicSchema(value)]);
  const made = Object.fromEntries(kept) as Schema;
  if (typeof rule === 'string') made.description = withRule(made.description, rule);
  return made as T;
}

function withRule(description: string | undefined, rule: string): string {
  const sentence = `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`;
  return description === undefined ? sentence : `${description} ${sentence}`;
}
