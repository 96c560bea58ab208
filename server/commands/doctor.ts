import type { Command } from 'commander';
import { addCommand } from './command.ts';
import { examine } from './doctor/examine.ts';
import { print, table } from './output.ts';

export function addDoctor(program: Command): void {
  addCommand(program, {
    name: 'doctor',
    summary: 'check that the service can run here, and say what to mend',
    about: 'Changes nothing. Exit code 1 when a check fails; a warning alone is 0.',
    example: 'doctor --json',
  }).action(async ({ json }: { json?: boolean }) => {
    const checks = await examine(process.env);
    const failed = checks.filter(({ status }) => status === 'fail').length;
    print(
      json,
      { ok: failed === 0, checks },
      table(checks.map(({ status, name, detail }) => [status, name, detail])),
    );
    if (failed > 0) throw new Error(`${failed} of ${checks.length} checks failed`);
  });
}
