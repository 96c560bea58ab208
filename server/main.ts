// What `npm start` runs, and every process of INBOX_PROCESSES.
import cluster from 'node:cluster';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { readConfig } from './config.ts';
import { exitWith } from './exit.ts';

if (import.meta.main) await exitWith(run());

async function run(): Promise<void> {
  const config = readConfig(process.env); // a bad value is told before anything else is loaded
  // Half of a start goes into reading the sources: 1.2 s of processor time without the cache, 0.5 s with it.
  enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/inbox'));
  const { serve, serveAsOneOfMany } = await import('./process/serve.ts');
  await (cluster.isWorker ? serveAsOneOfMany(config) : serve(config));
}
