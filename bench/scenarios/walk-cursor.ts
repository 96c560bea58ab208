import { call } from '../api.ts';
import { type Sample, sampleOf } from '../sample.ts';
import { compared } from '../measure.ts';
import type { Scenario } from '../scenario.ts';
import type { Seeded } from '../seeded.ts';

interface Page {
  data: unknown[];
  meta: { next_cursor?: string | null };
}

/** A client walks through all conversations: the last tenth of the pages beside the first. */
export const walkCursor: Scenario = {
  name: 'walk_cursor',
  async measure(bench) {
    const seeded = await bench.largest();
    const late: Sample[] = [];
    const early: Sample[] = [];
    for (let repetition = 0; repetition < bench.timing.repetitions; repetition++) {
      const costs = await walk(seeded);
      const tenth = Math.ceil(costs.length / 10);
      early.push(sampleOf(costs.slice(0, tenth), 1));
      late.push(sampleOf(costs.slice(-tenth), 1));
    }
    return compared(late, early, 'p50', { unit: 'ms', against: 'the first tenth of the pages' });
  },
};

/** How long each page took. */
async function walk({ service, keys, size }: Seeded): Promise<number[]> {
  const costs: number[] = [];
  let rows = 0;
  let after = '';
  for (;;) {
    const begun = performance.now();
    const url = `${service.origin}/v1/conversations?per_page=100${after}`;
    const { data, meta } = await call<Page>('GET', url, keys[costs.length % keys.length]!);
    costs.push(performance.now() - begun);
    rows += data.length;
    if (meta.next_cursor === undefined) throw new Error('the list has no meta.next_cursor');
    if (meta.next_cursor === null) break;
    after = `&cursor=${encodeURIComponent(meta.next_cursor)}`;
  }
  if (rows < size) throw new Error(`the walk saw ${rows} conversations of ${size}`);
  return costs;
}
