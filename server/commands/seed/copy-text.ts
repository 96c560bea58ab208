/** One line of PostgreSQL's COPY text format. Free text among the values goes through `text` first. */
export const copyRow = (values: (string | number)[]): string => `${values.join('\t')}\n`;

export const nothing = '\\N';

const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

export const text = (value: string | null): string =>
  value === null ? nothing : value.replace(/[\\\n\r\t]/g, (character) => escapes[character]!);

export const textArray = (values: string[]): string =>
  values.length === 0
    ? '{}'
    : text(`{${values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`);
