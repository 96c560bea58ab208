import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { addCommand } from './command.ts';

export function addServe(program: Command): void {
  addCommand(program, {
    name: 'serve',
    summary: 'run the service until a signal ends it (as npm start does)',
    about:
      'Everything is set by environment variables: PORT, HOST, DATABASE_URL, … The line "inbox ready on …" comes on ' +
      'stdout, with or without --json; logs are JSON lines on stderr.',
    example: 'serve',
  }).action(async () => {
    const { serve } = await import('../process/serve.ts'); // half a second that no other command need wait
    await serve(readConfig(process.env));
  });
}
