import { compared, costOf, takeTurns } from '../measure.ts';
import type { Scenario } from '../scenario.ts';

const deepest = 10_000;
const mostPerPage = 25;

/** Page 10,000. Where there are fewer than 250,000 conversations, pages are so small that it exists. */
export const deepPage: Scenario = {
  name: 'deep_page',
  async measure(bench) {
    const seeded = await bench.largest();
    const page = Math.min(deepest, seeded.size);
    const perPage = Math.min(mostPerPage, Math.floor(seeded.size / page));
    const at = (n: number) =>
      costOf(bench, seeded, [{ method: 'GET', path: `/v1/conversations?page=${n}&per_page=${perPage}` }]);
    const [deep, first] = await takeTurns(bench, [at(page), at(1)], bench.timing.costSeconds);
    return compared(deep!, first!, 'p50', { unit: 'ms', against: `page 1, ${perPage} a page` });
  },
};
