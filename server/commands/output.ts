/** With --json one JSON object on stdout and nothing else; without it something for a person. */
export function print(json: boolean | undefined, resource: object, forPeople: string): void {
  process.stdout.write(json ? `${JSON.stringify(resource)}\n` : `${forPeople}\n`);
}

/** `label  value` lines, the values below one another. */
export function lines(fields: Record<string, string | number | null>): string {
  return table(Object.entries(fields).map(([label, value]) => [label, String(value ?? '-')]));
}

/** Columns below one another. */
export function table(rows: string[][]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  }
  const pad = (cell: string, column: number) => cell + ' '.repeat(widths[column]! - widthOf(cell));
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}

const noColumn = /[\p{Mn}\p{Me}\p{Cf}]/u;
const twoColumns =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u;

/** How many columns of a terminal a text takes. */
function widthOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += noColumn.test(character) ? 0 : twoColumns.test(character) ? 2 : 1;
  return columns;
}
