import { compared, costOf, takeTurns } from '../measure.ts';
import { median } from '../sample.ts';
import type { Bench, Measured, Scenario } from '../scenario.ts';
import type { LoadScenario } from './load-scenario.ts';

/** What one request costs on the largest tables beside what it costs on the smallest. */
export function growthOf(scenario: LoadScenario): Scenario {
  return { name: `growth_${scenario.name}`, measure: (bench) => measure(scenario, bench) };
}

async function measure(scenario: LoadScenario, bench: Bench): Promise<Measured> {
  const all = [];
  for (const size of bench.sizes) all.push(await bench.at(size));
  const sides = all.map((seeded) => costOf(bench, seeded, scenario.calls(seeded, 'ours')));
  const samples = await takeTurns(bench, sides, bench.timing.costSeconds);
  return {
    ...compared(samples.at(-1)!, samples[0]!, 'p50', { unit: 'ms', against: `${bench.sizes[0]} rows` }),
    sizes: bench.sizes.map((rows, i) => ({ rows, ms: median(samples[i]!.map(({ p50 }) => p50)) })),
  };
}
