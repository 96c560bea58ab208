import { compared, costOf, takeTurns } from '../measure.ts';
import type { Scenario } from '../scenario.ts';
import type { Seeded } from '../seeded.ts';
import type { LoadScenario } from './load-scenario.ts';

const places = {
  first: () => 1,
  middle: (pages: number) => Math.ceil(pages / 2),
  last: (pages: number) => pages,
};

const pageOf = ({ longConversation: { id, pages } }: Seeded, place: keyof typeof places) => [
  { method: 'GET' as const, path: `/v1/conversations/${id}/messages?page=${places[place](pages)}` },
];

export const listMessages = (Object.keys(places) as (keyof typeof places)[]).map(
  (place): LoadScenario => ({
    name: `list_messages_${place}`,
    calls: (seeded) => pageOf(seeded, place),
    limit: 'sql',
  }),
);

/** A conversation with 100,000 messages: its last page beside its first. */
export const lastPageOfMessages: Scenario = {
  name: 'list_messages',
  async measure(bench) {
    const seeded = await bench.largest();
    const sides = [
      costOf(bench, seeded, pageOf(seeded, 'last')),
      costOf(bench, seeded, pageOf(seeded, 'first')),
    ];
    const [last, first] = await takeTurns(bench, sides, bench.timing.costSeconds);
    return compared(last!, first!, 'p50', { unit: 'ms', against: 'the first page' });
  },
};
