import { isDeepStrictEqual } from 'node:util';
import { invalid } from './errors.ts';

/** A field that is set once: a PATCH may send it back as it was read, and no other way. */
export function unchangeable(field: string, stored: unknown, given: unknown): void {
  if (given !== undefined && !isDeepStrictEqual(given, stored)) {
    throw invalid(field, 'unchangeable', `${field} cannot be changed`);
  }
}
