import type { Command } from 'commander';

export interface Described {
  name: string;
  summary: string;
  /** What else to know; a paragraph. */
  about?: string;
  /** What follows `npm run --silent inbox -- `. */
  example: string;
}

/** A command as every one is: with --json, and with an example in its help. */
export function addCommand(parent: Command, { name, summary, about, example }: Described): Command {
  return parent
    .command(name)
    .summary(summary)
    .description(about === undefined ? summary : `${summary}\n\n${about}`)
    .option('--json', 'print one JSON object on stdout')
    .addHelpText('after', `\nExample:\n  npm run --silent inbox -- ${example}`);
}
