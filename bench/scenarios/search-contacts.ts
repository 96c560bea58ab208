import { compared, costOf, takeTurns } from '../measure.ts';
import type { Scenario } from '../scenario.ts';
import type { Seeded } from '../seeded.ts';
import { getConversation } from './get-conversation.ts';
import type { LoadScenario } from './load-scenario.ts';

const terms: Record<string, (seeded: Seeded) => string[]> = {
  /** Up to the @: in one address and in no other. */
  rare: ({ contacts }) => contacts.flatMap(({ email }) => email?.replace(/@.*/, '@') ?? []),
  /** In nearly every address. */
  common: () => ['example'],
  two_letter: () => ['an'],
  phone: ({ contacts }) => contacts.flatMap(({ phone }) => phone?.slice(-7) ?? []),
};

export const searchContacts = Object.entries(terms).map(
  ([kind, termsOf]): LoadScenario => ({
    name: `search_contacts_${kind}`,
    calls: (seeded) =>
      termsOf(seeded).map((q) => ({ method: 'GET', path: `/v1/contacts?q=${encodeURIComponent(q)}` })),
    limit: 'sql',
    ...((kind === 'common' || kind === 'two_letter') && { connections: 2 }),
  }),
);

export const searchRare = searchContacts[0]!;

export const searchBesideRead: Scenario = {
  name: 'search_contacts',
  async measure(bench) {
    const seeded = await bench.largest();
    const sides = [searchRare, getConversation].map(({ calls }) =>
      costOf(bench, seeded, calls(seeded, 'ours')),
    );
    const [search, read] = await takeTurns(bench, sides, bench.timing.costSeconds);
    return compared(search!, read!, 'p95', { unit: 'ms (p95)', against: 'get_conversation' });
  },
};
