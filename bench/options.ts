/** What stands behind `name` on the command line. */
export function textOption(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

export function numberOption(name: string, fallback: number): number {
  const text = textOption(name);
  return text === undefined ? fallback : Number(text);
}

export const hasFlag = (name: string): boolean => process.argv.includes(name);
