import { parseArgs } from 'node:util';

type Options<Flag extends string, Text extends string> = Partial<
  Record<Flag, boolean> & Record<Text, string>
>;

/** What stands on the command line. Anything else ends the process before it has started anything. */
export function readOptions<Flag extends string, Text extends string>(
  flags: Flag[],
  texts: Text[],
): Options<Flag, Text> {
  const options = Object.fromEntries([
    ...flags.map((name) => [name, { type: 'boolean' }] as const),
    ...texts.map((name) => [name, { type: 'string' }] as const),
  ]);
  try {
    return parseArgs({ options }).values as Options<Flag, Text>;
  } catch (error) {
    return refuse((error as Error).message);
  }
}

export function wholeNumber(name: string, text: string | undefined, fallback: number, least = 1): number {
  if (text === undefined) return fallback;
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < least) {
    refuse(`--${name} must be a whole number, at least ${least.toLocaleString('en-US')}`);
  }
  return number;
}

export function refuse(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(2);
}
