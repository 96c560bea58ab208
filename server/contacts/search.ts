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

/** The SQL condition for `q`, its values appended. `%` and `_` are plain characters. */
export function matching(q: string, values: unknown[]): string {
  const term = q.toLowerCase();
  if (term.includes(separator)) return 'false';
  const anywhere = `search like $${values.push(`%${escapeLike(term)}%`)}`;
  const digits = term.replace(/[\s\-()[\]]/g, '');
  if (digits === term || !/^\+?\d+$/.test(digits)) return anywhere;
  const phone = `$${values.push(`%${digits}%`)}`;
  return `(${anywhere} or (search like ${phone} and phone like ${phone}))`;
}

const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');
