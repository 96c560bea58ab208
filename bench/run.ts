import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartOf } from './chart.ts';
import { atEnd, isEnding, makeFolder, withCleanUp } from './clean-up.ts';
import { startLoader } from './load.ts';
import { machine } from './machine.ts';
import { manyConnections } from './measure.ts';
import { readOptions, refuse, wholeNumber } from './options.ts';
import { createProgress, type Progress } from './progress.ts';
import { type Outcome, type Result, resultOf, summaryOf, tableOf } from './report.ts';
import type { Bench, Scenario, Timing } from './scenario.ts';
import { scenarios, warmUpCalls } from './scenarios/all.ts';
import { seed, type Seeded } from './seeded.ts';
import { type Service, startService } from './service.ts';
import { startReceiver } from './webhooks/receiver.ts';

const quick: Timing = {
  repetitions: 3,
  warmUpSeconds: 0.4,
  seconds: 0.5,
  costSeconds: 0.2,
  freshSeconds: 3,
  deliveries: 3_000,
};
const full: Timing = {
  repetitions: 5,
  warmUpSeconds: 3,
  seconds: 2,
  costSeconds: 1,
  freshSeconds: 10,
  deliveries: 20_000,
};

/**
 * npm run --silent bench -- [--quick] [--json] [--only name,growth_*] [--size 100000]
 * The whole service over HTTP, each figure beside its limit measured in the same run (docs/benchmark.md). A scenario that
 * gets one answer that is no success has failed, and so has the run.
 */
const given = readOptions(['quick', 'json'], ['only', 'size']);
const fullSize = 1_000_000;
/** More than the smallest that growth compares with. */
const leastSize = 2_000;
const size = wholeNumber('size', given.size, given.quick ? 100_000 : fullSize, leastSize);
const chosen = chosenScenarios();

await withCleanUp(async () => {
  const progress = createProgress(chosen.length);
  const bench = await makeBench(progress);
  const outcomes: Outcome[] = [];
  for (const scenario of chosen) {
    await bench.tidyUp({ keepSmaller: scenario.name.startsWith('growth_') });
    progress.begin(scenario.name);
    const outcome = await outcomeOf(scenario, bench);
    outcomes.push(outcome);
    progress.end(summaryOf(outcome));
  }

  const date = new Date().toISOString();
  const result = resultOf(outcomes, { date, machine: machine(), node: process.version, sizes: bench.sizes });
  if (chosen === scenarios) write(result, progress); // a part would take the place of the whole of that day
  process.stdout.write(given.json ? `${JSON.stringify(result)}\n` : tableOf(result));
  if (outcomes.some((outcome) => 'error' in outcome)) process.exitCode = 1;
});

function write(result: Result, progress: Progress): void {
  const folder = join(import.meta.dirname, 'results');
  const file = join(folder, result.date.slice(0, 10) + (size === fullSize && !given.quick ? '' : `-${size}`));
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${file}.json`, `${JSON.stringify(result, undefined, 2)}\n`);
  writeFileSync(`${file}.svg`, chartOf(result));
  progress.note(`written: ${file}.json and .svg`);
}

function chosenScenarios(): Scenario[] {
  const only = given.only?.split(',');
  if (!only) return scenarios;
  const isNamed = (name: string, pattern: string) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  const unknown = only.filter((pattern) => !scenarios.some(({ name }) => isNamed(name, pattern)));
  if (unknown.length > 0) {
    refuse(`no scenario ${unknown.join(', ')}; there are ${scenarios.map(({ name }) => name).join(', ')}`);
  }
  return scenarios.filter(({ name }) => only.some((pattern) => isNamed(name, pattern)));
}

interface TidyBench extends Bench {
  tidyUp(options: { keepSmaller: boolean }): Promise<void>;
}

async function makeBench(progress: Progress): Promise<TidyBench> {
  const timing = given.quick ? quick : full;
  const folder = makeFolder();
  const receiver = await startReceiver(folder);
  const loader = startLoader();
  const bySize = new Map<number, Promise<Seeded>>();

  const fill = async (rows: number): Promise<Seeded> => {
    progress.note(`filling a database with ${rows.toLocaleString('en-US')} conversations, ten messages each`);
    const seeded = await seed(rows, folder, receiver.env);
    await warmUp(seeded.service, seeded);
    return seeded;
  };
  const at = (rows: number): Promise<Seeded> => {
    const known = bySize.get(rows) ?? fill(rows);
    bySize.set(rows, known);
    return known;
  };
  /** A process that has just started runs code that is not compiled yet. */
  const warmUp = async ({ origin }: Service, seeded: Seeded) => {
    const calls = warmUpCalls(seeded);
    await loader.run({
      origin,
      keys: seeded.keys,
      calls,
      connections: manyConnections,
      seconds: timing.freshSeconds,
    });
  };

  return {
    timing,
    sizes: [...[1_000, 100_000].filter((smaller) => smaller < size), size],
    loader,
    receiver,
    folder,
    at,
    largest: () => at(size),
    async restart(seeded, more = {}) {
      await seeded.service.stop();
      seeded.service = await startService({ ...seeded.env, ...more });
      atEnd(() => seeded.sql.close()); // before that service: the last to leave stops the database
      await warmUp(seeded.service, seeded);
    },
    /** Between scenarios: what only growth needs ends with it, and logs do not fill the disk. */
    async tidyUp({ keepSmaller }) {
      for (const [rows, filled] of bySize) {
        const { sql, service } = await filled;
        service.trimLog();
        if (rows === size || keepSmaller) continue;
        await sql.close();
        await service.stop();
        bySize.delete(rows);
      }
    },
  };
}

async function outcomeOf(scenario: Scenario, bench: Bench): Promise<Outcome> {
  try {
    return { name: scenario.name, ...(await scenario.measure(bench)) };
  } catch (error) {
    if (isEnding()) return new Promise(() => {}); // interrupted: nothing new is to begin
    return { name: scenario.name, error: (error as Error).message };
  }
}
