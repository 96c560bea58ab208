import type { Call } from '../load.ts';
import { compared, loadOf, manyConnections, takeTurns } from '../measure.ts';
import type { Scenario } from '../scenario.ts';
import type { Seeded } from '../seeded.ts';
import { createContact } from './create-contact.ts';
import { getConversation } from './get-conversation.ts';
import { inboundMessage } from './inbound-message.ts';
import { listConversations } from './list-conversations.ts';
import { listMessages } from './list-messages.ts';
import type { LoadScenario } from './load-scenario.ts';
import { patchConversation } from './patch-conversation.ts';
import { searchRare } from './search-contacts.ts';
import { sendMessage } from './send-message.ts';

/** Of twenty requests sixteen read. */
const shares: [LoadScenario, number][] = [
  [listConversations[0]!, 4],
  [listConversations[1]!, 2],
  [getConversation, 5],
  [listMessages[0]!, 2],
  [listMessages[2]!, 2],
  [searchRare, 1],
  [sendMessage, 2],
  [inboundMessage, 1],
  [patchConversation, 0.5],
  [createContact, 0.5],
];
const rounds = 32;

/** Each kind as often as its share, spread evenly. */
function callsOf(seeded: Seeded, whose: 'ours' | 'limit'): Call[] {
  const placed = shares.flatMap(([scenario, share]) => {
    const calls = scenario.calls(seeded, whose);
    const count = share * rounds;
    return Array.from({ length: count }, (_, i) => ({
      at: (i + 0.5) / count,
      call: calls[i % calls.length]!,
    }));
  });
  return placed.toSorted((a, b) => a.at - b.at).map(({ call }) => call);
}

export const mixed: LoadScenario = {
  name: 'mixed',
  calls: callsOf,
  limit: 'sql',
  ...(sendMessage.prepare && { prepare: sendMessage.prepare }),
};

/** One after the other and not in turns: beside one another, each would send the deliveries of both. */
export const mixedTwoProcesses: Scenario = {
  name: 'mixed_two_processes',
  async measure(bench) {
    const seeded = await bench.largest();
    const undo = await mixed.prepare?.(bench, seeded);
    const calls = callsOf(seeded, 'ours');
    const samples = async () => {
      const side = loadOf(bench, seeded, seeded.service.origin, calls, manyConnections);
      const [taken] = await takeTurns(bench, [side], bench.timing.seconds, () => seeded.sql.settle());
      return taken!;
    };
    const withOne = await samples();
    await bench.restart(seeded, { INBOX_PROCESSES: '2' });
    const withTwo = await samples();
    await bench.restart(seeded);
    await undo?.();
    return compared(withTwo, withOne, 'perSecond', { unit: 'req/s', against: 'one process' });
  },
};
