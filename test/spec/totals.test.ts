import assert from 'node:assert/strict';
import test from 'node:test';
import { rollUpCounts } from '../../server/counts/counts.ts';
import { fromId } from '../../server/ids.ts';
import {
  create,
  type Data,
  inParallel,
  makeAgent,
  makeChannel,
  makeContact,
  makeTeam,
  patchConversation,
  roundRobin,
} from '../factory.ts';
import { clientFor, startService } from '../harness.ts';

/** Three servers on one database; each key's thousand requests a minute are shared out among several keys. */
const service = await startService();
const others = [
  await startService({ url: service.databaseUrl }),
  await startService({ url: service.databaseUrl }),
];
const servers = [service, ...others];
const ws = await service.workspace();
const keys = await Promise.all(Array.from({ length: 6 }, () => ws.makeKey()));
const crowd = {
  request: roundRobin(keys.flatMap((key) => servers.map(({ baseUrl }) => clientFor(baseUrl, key)))),
};

const statuses = ['open', 'pending', 'resolved', 'snoozed'];
const tags = ['red', 'green', 'blue'];
const channels = [await makeChannel(ws), await makeChannel(ws)];
const agents = [await makeAgent(ws), await makeAgent(ws)];
const teams = [await makeTeam(ws), await makeTeam(ws)];
const labels = ['urgent', 'billing', 'vip'];
const contact = await makeContact(ws);

/** The same choices in every run. */
function chooser(seed: number) {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  return { below, of: <T>(list: readonly T[]): T => list[below(list.length)]! };
}

interface Combination {
  status?: string | undefined;
  channel_id?: string | undefined;
  assignee_id?: string | undefined;
  team_id?: string;
  label?: string;
}

const filters = {
  status: [undefined, ...statuses],
  channel_id: [undefined, ...channels.map(({ id }) => id)],
  assignee_id: [undefined, 'unassigned', ...agents.map(({ id }) => id)],
};

/** Those whose totals are kept, and some that are counted. */
const combinations: Combination[] = filters.status.flatMap((status): Combination[] => [
  ...filters.channel_id.flatMap((channel_id) =>
    filters.assignee_id.map((assignee_id) => ({ status, channel_id, assignee_id })),
  ),
  ...teams.map(({ id }) => ({ status, team_id: id })),
  ...[...labels, 'unheard of'].map((label) => ({ status, label })),
  { status, team_id: teams[0].id, label: 'urgent' },
  { status, channel_id: channels[0].id, label: 'urgent' },
  { status, assignee_id: agents[0].id, team_id: teams[0].id },
]);

const totalOf = async (path: string, query: object): Promise<number> => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const { body } = await crowd.request('GET', `${path}?per_page=1&${new URLSearchParams(given).toString()}`);
  return body.meta.total;
};

async function countOf({ status, channel_id, assignee_id, team_id, label }: Combination): Promise<number> {
  const agent =
    assignee_id === undefined || assignee_id === 'unassigned' ? null : fromId('agent', assignee_id);
  const [row] = await service.sql<{ n: number }>(
    `select count(*) as n from conversations where workspace_id = $1 and ($2::text is null or status = $2)
       and ($3::uuid is null or channel_id = $3) and ($4::uuid is null or assignee_id = $4)
       and (not $5::boolean or assignee_id is null) and ($6::uuid is null or team_id = $6)
       and ($7::text is null or exists (select from labels l where l.id = any (label_ids) and l.name = $7))`,
    [
      ws.uuid,
      status,
      channel_id && fromId('channel', channel_id),
      agent,
      assignee_id === 'unassigned',
      team_id && fromId('team', team_id),
      label,
    ],
  );
  return row!.n;
}

async function assertTotals() {
  await inParallel(combinations, 8, async (combination) => {
    assert.equal(
      await totalOf('/conversations', combination),
      await countOf(combination),
      JSON.stringify(combination),
    );
  });
  await inParallel([undefined, ...tags], 4, async (tag) => {
    const [row] = await service.sql<{ n: number }>(
      `select count(*) as n from contacts where workspace_id = $1 and ($2::text is null or $2 = any (tags))`,
      [ws.uuid, tag],
    );
    assert.equal(await totalOf('/contacts', { tag }), row?.n, `tag ${tag}`);
  });
}

/** Folds the deltas and looks at totals for as long as the others write. */
async function besides(work: Promise<unknown>) {
  const writing = new AbortController();
  const choose = chooser(7);
  const breath = () => new Promise((resolve) => setTimeout(resolve, 10)); // the writers need the processor too
  const rolling = servers.map(async ({ ctx }) => {
    for (; !writing.signal.aborted; await breath()) await rollUpCounts(ctx.db);
  });
  const watching = (async () => {
    for (; !writing.signal.aborted; await breath()) {
      const combination = choose.of(combinations);
      assert.ok((await totalOf('/conversations', combination)) >= 0, JSON.stringify(combination));
    }
  })();
  try {
    await work;
  } finally {
    writing.abort();
  }
  await Promise.all([...rolling, watching]);
}

test(`after 2,000 random creates and PATCHes at once from three servers, with roll-ups running, the total of all ${combinations.length} filter combinations is exact`, async () => {
  const choose = chooser(42);
  const conversations: string[] = [];
  const contacts: Data[] = [contact];
  const randomTags = () => tags.filter(() => choose.below(2) === 0);
  const agentOrNone = () => choose.of([null, ...agents.map(({ id }) => id)]);

  const createConversation = async () => {
    const { id } = await create(crowd, '/conversations', {
      contact_id: contact.id,
      channel_id: choose.of(channels).id,
      assignee_id: agentOrNone(),
    });
    conversations.push(id);
  };
  const changeConversation = () =>
    patchConversation(crowd, choose.of(conversations), {
      ...(choose.below(3) > 0 && { status: choose.of(statuses) }),
      ...(choose.below(3) > 0 && { assignee_id: agentOrNone() }),
      ...(choose.below(3) === 0 && { team_id: choose.of([null, ...teams.map(({ id }) => id)]) }),
      ...(choose.below(3) === 0 && { labels: labels.filter(() => choose.below(2) === 0) }),
    });
  const createContact = async () => contacts.push(await makeContact(crowd, { tags: randomTags() }));
  const changeContact = () =>
    crowd.request('PUT', `/contacts/${choose.of(contacts).id}`, { tags: randomTags() });

  const work = inParallel(Array.from({ length: 2_000 }), 32, async () => {
    const dice = choose.below(20);
    if (conversations.length === 0 || dice < 7) return createConversation();
    if (dice < 16) return changeConversation();
    if (dice < 18) return createContact();
    return changeContact();
  });
  await besides(work);
  assert.ok(conversations.length > 500);
  await assertTotals();
});

test('the totals stay exact after the last roll-up and hold no negative count', async () => {
  await rollUpCounts(service.ctx.db);
  await assertTotals();
  const deltas = await service.sql(`select from count_deltas`);
  assert.equal(deltas.length, 0);
  assert.deepEqual(await service.sql(`select scope, n from counts where n < 0`), []);
});

test('a roll-up that runs in several processes at once counts nothing twice', async () => {
  await inParallel(Array.from({ length: 20 }), 10, () =>
    create(crowd, '/conversations', { contact_id: contact.id, channel_id: channels[0].id }),
  );
  await Promise.all([...servers, ...servers].map(({ ctx }) => rollUpCounts(ctx.db)));
  await assertTotals();
});

test('what is deleted from the tables leaves the totals too', async () => {
  await service.sql(
    `delete from conversations where workspace_id = $1 and id in
       (select id from conversations where workspace_id = $1 order by id limit 50)`,
    [ws.uuid],
  );
  await assertTotals();
});
