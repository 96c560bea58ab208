/** What the other side calls a message, if it can be kept: it comes from outside, so it may be anything. */
export function usableExternalId(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > 255) return undefined;
  return value.isWellFormed() && !value.includes('\0') ? value : undefined;
}
