import { invalid } from './errors.ts';

const firstMoment = Date.parse('0001-01-01T00:00:00Z');
const lastMoment = Date.parse('9999-12-31T23:59:59.999Z');

/** A moment in a request, as the service writes them. `:60` and the year 0 pass the format and are no moments. */
export function momentOf(field: string, text: string): string {
  const ms = Date.parse(text);
  if (!(ms >= firstMoment && ms <= lastMoment))
    throw invalid(field, 'format', `${field} must be a timestamp such as 2026-11-15T09:30:00.000Z`);
  return new Date(ms).toISOString();
}
