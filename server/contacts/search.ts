/**
 * `contacts.search` holds what `q` looks in, folded to lower case here and not by the database, so that every
 * PostgreSQL and every locale finds the same contacts. The unit separator keeps a match inside one field.
 */
const separator = '\u001f';

export function searchTextOf(contact: { name: string; email: string | null; phone: string | null }): string {
  return [contact.name.toLowerCase(), contact.email?.toLowerCase() ?? '', contact.phone ?? ''].join(
    separator,
  );
}

/**
 * `contacts.digits`: every run of four digits in a text. The workspace is part of each number, so that one index without
 * a workspace column serves all: in a GIN index that column would be one list of all its contacts, read at every search.
 */
export function digitsOf(workspaceId: string, text: string): number[] {
  const base = (Number.parseInt(workspaceId.slice(-5), 16) % 200_000) * 10_000;
  const runs = new Set<number>();
  for (const [digits] of text.matchAll(/[0-9]{4,}/g)) {
    for (let place = 0; place + 4 <= digits.length; place++) {
      runs.add(base + Number(digits.slice(place, place + 4)));
    }
  }
  return [...runs];
}

/** The SQL condition for `q` in the workspace, its values appended. `%` and `_` are plain characters. */
export function matching(workspaceId: string, q: string, values: unknown[]): string {
  const term = q.toLowerCase();
  if (term.includes(separator)) return 'false';
  const anywhere = containing(workspaceId, term, values);
  const phone = term.replace(/[\s\-()[\]]/g, '');
  if (phone === term || !/^\+?\d+$/.test(phone)) return anywhere;
  const inPhone = containing(workspaceId, phone, values);
  return `(${anywhere} or (${inPhone} and phone like $${values.push(`%${phone}%`)}))`;
}

/** Digits have an index of their own; `|| ''` keeps the planner from taking the other one, which is slow at them. */
function containing(workspaceId: string, term: string, values: unknown[]): string {
  const like = `like $${values.push(`%${escapeLike(term)}%`)}`;
  const digits = digitsOf(workspaceId, term);
  if (digits.length === 0) return `search ${like}`;
  return `(digits @> $${values.push(digits)}::int[] and search || '' ${like})`;
}

const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');
