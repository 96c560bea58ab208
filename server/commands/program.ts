import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { addAgent } from './agent.ts';
import { addDoctor } from './doctor.ts';
import { addKey } from './key.ts';
import { addMigrate } from './migrate.ts';
import { addOpenapi } from './openapi.ts';
import { addSeed } from './seed.ts';
import { addServe } from './serve.ts';
import { UsageError } from './usage.ts';
import { addWorkspace } from './workspace.ts';

/** The whole command line. Every command stands on one line. */
export async function runCommand(args: string[]): Promise<void> {
  process.stdout.on('error', () => {}); // whoever reads through a pipe may leave early
  const program = new Command('inbox')
    .description('The command line of Inbox. Works on the same database as the service, running or not.')
    .version(packageJson.version)
    .exitOverride()
    .configureOutput({ outputError: () => {} }) // whoever called says it, once
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong usage or environment.');
  addServe(program);
  addMigrate(program);
  addWorkspace(program);
  addKey(program);
  addAgent(program);
  addSeed(program);
  addDoctor(program);
  addOpenapi(program);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return; // help or version was asked for
    throw new UsageError(error.code === 'commander.help' ? '' : error.message.replace(/^error: /, ''));
  }
}
