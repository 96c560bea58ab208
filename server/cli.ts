// What `npm run inbox` runs.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { exitWith } from './exit.ts';

if (import.meta.main) {
  // As in main.ts, whose cache this is.
  enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/inbox'));
  const { runCommand } = await import('./commands/program.ts');
  await exitWith(runCommand(process.argv.slice(2)));
}
