import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What was started is ended in reverse order: sessions before their database, processes before their files. */
const endings = new Set<() => unknown>();
let ended: Promise<void> | undefined;

export function atEnd(end: () => unknown): void {
  endings.add(end);
}

export const isEnding = (): boolean => ended !== undefined;

/** Runs `work`; after it, and on Ctrl-C, nothing is left running and no file is left behind. */
export async function withCleanUp(work: () => Promise<void>): Promise<void> {
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      interrupted = true;
      process.stderr.write('\ninterrupted, cleaning up\n');
      void endAll().finally(() => process.exit(130));
    });
  }
  try {
    await work();
  } catch (error) {
    if (!interrupted) throw error; // else it is about what the interruption has ended
    await new Promise(() => {});
  } finally {
    await endAll();
  }
}

function endAll(): Promise<void> {
  ended ??= (async () => {
    for (const end of [...endings].toReversed()) {
      try {
        await end();
      } catch (error) {
        process.stderr.write(`while cleaning up: ${String(error)}\n`);
      }
    }
  })();
  return ended;
}

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inbox-bench-'));
  chmodSync(folder, 0o755); // as root, the embedded database runs as another user
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Ends the process and waits until it is gone. Safe to call twice. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}
