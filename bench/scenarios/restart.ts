import { setTimeout as sleep } from 'node:timers/promises';
import { startBareServer } from '../limits/http.ts';
import { median, spreadOf } from '../sample.ts';
import type { Bench, Measured, Scenario } from '../scenario.ts';
import { startService } from '../service.ts';

const idleMs = 1_000;

/** From nothing running, PostgreSQL included, until requests are taken. */
export const coldStart: Scenario = {
  name: 'cold_start',
  measure: (bench) => afterRestarts(bench, 's', ({ startMs }) => startMs / 1_000),
};

/** Of the server process, without a request. */
export const idleMemory: Scenario = {
  name: 'idle_memory',
  measure: (bench) =>
    afterRestarts(bench, 'MB', async ({ memory }) => {
      await sleep(idleMs);
      return memory();
    }),
};

interface Started {
  startMs: number;
  memory(): number;
}

async function afterRestarts(
  bench: Bench,
  unit: string,
  take: (started: Started) => number | Promise<number>,
): Promise<Measured> {
  const seeded = await bench.largest();
  await seeded.sql.close();
  await seeded.service.stop();
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let repetition = 0; repetition < bench.timing.repetitions; repetition++) {
    const service = await startService(seeded.env);
    ours.push(await take(service));
    await service.stop();
    const server = await startBareServer({ headers: [], body: '' });
    bare.push(await take(server));
    await server.stop();
  }
  const [value, limit] = [median(ours), median(bare)];
  const spreads = { spread: spreadOf(ours), limit_spread: spreadOf(bare) };
  return { value, unit, limit, ratio: value / limit, against: 'bare node:http', ...spreads };
}
