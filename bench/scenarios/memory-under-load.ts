import { loadOf } from '../measure.ts';
import { spreadOf } from '../sample.ts';
import type { Scenario } from '../scenario.ts';
import { mixed } from './mixed.ts';

const connections = 128;
const mostMb = 300;
const lookEveryMs = 50;

/** The most the server process held while it answered the mixed load of many connections. */
export const memoryUnderLoad: Scenario = {
  name: 'memory_under_load',
  async measure(bench) {
    const seeded = await bench.largest();
    const undo = await mixed.prepare?.(bench, seeded);
    const load = loadOf(bench, seeded, seeded.service.origin, mixed.calls(seeded, 'ours'), connections);
    const peaks: number[] = [];
    for (let repetition = 0; repetition < bench.timing.repetitions; repetition++) {
      let peak = 0;
      const look = () => (peak = Math.max(peak, seeded.service.memory()));
      const looking = setInterval(look, lookEveryMs);
      await load(bench.timing.seconds);
      clearInterval(looking);
      peaks.push(peak);
    }
    await seeded.sql.settle();
    await undo?.();
    const value = Math.max(...peaks);
    const against = `${mostMb} MB`;
    return { value, unit: 'MB', limit: mostMb, ratio: value / mostMb, against, spread: spreadOf(peaks) };
  },
};
