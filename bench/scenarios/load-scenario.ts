import type { Call } from '../load.ts';
import { answerOf, startBareServer } from '../limits/http.ts';
import { compared, loadOf, manyConnections, type Side, takeTurns } from '../measure.ts';
import type { Bench, Measured, Scenario } from '../scenario.ts';
import type { Seeded } from '../seeded.ts';

/** As many requests as the service takes, beside a limit of the same concurrency. */
export interface LoadScenario {
  name: string;
  /** `limit`: the rows the limit is to write, where both must not meet on the same. */
  calls(seeded: Seeded, whose: 'ours' | 'limit'): Call[];
  limit: 'sql' | 'http';
  /** Fewer than usual, where one request alone keeps a processor busy for long. */
  connections?: number;
  /** What must be there first; returns how to take it away. */
  prepare?(bench: Bench, seeded: Seeded): Promise<() => Promise<void>>;
}

export function underLoad(scenario: LoadScenario): Scenario {
  return { name: scenario.name, measure: (bench) => measure(scenario, bench) };
}

async function measure(scenario: LoadScenario, bench: Bench): Promise<Measured> {
  const seeded = await bench.largest();
  const { connections = manyConnections } = scenario;
  const undo = await scenario.prepare?.(bench, seeded);
  const calls = scenario.calls(seeded, 'ours');
  const ours = loadOf(bench, seeded, seeded.service.origin, calls, connections);
  const limit =
    scenario.limit === 'sql'
      ? sqlLimit(scenario, seeded, connections)
      : await httpLimit(bench, seeded, calls);
  const settle = () => seeded.sql.settle();
  try {
    const [mine, theirs] = await takeTurns(bench, [ours, limit.side], bench.timing.seconds, settle);
    return compared(mine!, theirs!, 'perSecond', { unit: 'req/s', against: limit.against });
  } finally {
    await limit.stop();
    await undo?.();
  }
}

interface Limit {
  side: Side;
  against: string;
  stop(): Promise<void>;
}

function sqlLimit(scenario: LoadScenario, seeded: Seeded, connections: number): Limit {
  const calls = scenario.calls(seeded, 'limit');
  return {
    side: (seconds) => seeded.sql.run(calls, connections, seconds),
    against: 'its SQL alone',
    stop: async () => {},
  };
}

async function httpLimit(bench: Bench, seeded: Seeded, calls: Call[]): Promise<Limit> {
  const answer = await answerOf(`${seeded.service.origin}${calls[0]!.path}`, seeded.keys[0]!);
  const { origin, stop } = await startBareServer(answer);
  return { side: loadOf(bench, seeded, origin, calls, manyConnections), against: 'bare node:http', stop };
}
