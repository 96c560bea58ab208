import type { Call } from './load.ts';
import { median, type Sample, spreadOf } from './sample.ts';
import type { Bench, Measured } from './scenario.ts';
import type { Seeded } from './seeded.ts';

/** What fifty agents and their programs keep busy. With fewer the service waits for the load, the bare server does not. */
export const manyConnections = 64;

export type Side = (seconds: number) => Promise<Sample>;

/** Warms both up, then takes turns: what slows the machine for a while slows both. */
export async function takeTurns(
  { timing }: Pick<Bench, 'timing'>,
  sides: Side[],
  seconds: number,
  settle: () => Promise<void> = async () => {},
): Promise<Sample[][]> {
  for (const side of sides) {
    await side(Math.min(2 * seconds, timing.warmUpSeconds));
    await settle();
  }
  const samples = sides.map((): Sample[] => []);
  for (let repetition = 0; repetition < timing.repetitions; repetition++) {
    for (const [i, side] of sides.entries()) {
      samples[i]!.push(await side(seconds));
      await settle();
    }
  }
  return samples;
}

export function loadOf(
  bench: Bench,
  to: Pick<Seeded, 'keys'>,
  origin: string,
  calls: Call[],
  connections: number,
): Side {
  return (seconds) => bench.loader.run({ origin, keys: to.keys, calls, connections, seconds });
}

/** What one request costs when it is alone: nothing queues, so a longer time is more work. */
export function costOf(bench: Bench, to: Seeded, calls: Call[]): Side {
  return loadOf(bench, to, to.service.origin, calls, 1);
}

type Statistic = keyof Sample;

/** The median of the repetitions, ours beside the limit. */
export function compared(
  ours: Sample[],
  limit: Sample[],
  statistic: Statistic,
  { unit, against }: Pick<Measured, 'unit' | 'against'>,
): Measured {
  const all = (samples: Sample[], which: Statistic) => samples.map((sample) => sample[which]);
  const [value, limitValue] = [median(all(ours, statistic)), median(all(limit, statistic))];
  return {
    value,
    unit,
    limit: limitValue,
    ratio: value / limitValue,
    against,
    spread: spreadOf(all(ours, statistic)),
    limit_spread: spreadOf(all(limit, statistic)),
    p50_ms: median(all(ours, 'p50')),
    p95_ms: median(all(ours, 'p95')),
  };
}
