/** `{{name}}`, `{{ order.id }}` or `{{1}}`. Anything else between braces is text like any other. */
const placeholder = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]*)\s*\}\}/gu;

/**
 * The body with its placeholders filled, or the names of those that no variable fills. What is filled in is text:
 * a placeholder inside a value stays as it is.
 */
export function renderTemplate(
  body: string,
  variables: Record<string, unknown>,
): { text: string } | { missing: string[] } {
  const missing = new Set<string>();
  const text = body.replace(placeholder, (whole, name: string) => {
    const value = Object.hasOwn(variables, name) ? textOf(variables[name]) : undefined;
    if (value === undefined) missing.add(name);
    return value ?? whole;
  });
  return missing.size > 0 ? { missing: [...missing] } : { text };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

/** The names of the placeholders, each once, in the order they first stand in the text. */
export function placeholdersOf(body: string): string[] {
  return [...new Set(Array.from(body.matchAll(placeholder), ([, name]) => name!))];
}
