import assert from 'node:assert/strict';
import test from 'node:test';
import { create, makeChannel, makeContact, patchConversation } from '../factory.ts';
import { clientFor, startService } from '../harness.ts';

/** Two processes' worth of service on one database; what is asked for at once is read together. */
const writer = await startService();
const reader = await startService({ url: writer.databaseUrl });
const ws = await writer.workspace();
const elsewhere = clientFor(reader.baseUrl, ws.key);
const channel = await makeChannel(ws);
const contact = await makeContact(ws);
const [{ id }, ...others] = await Promise.all(
  Array.from({ length: 8 }, () =>
    create(ws, '/conversations', { contact_id: contact.id, channel_id: channel.id }),
  ),
);

const statuses = ['pending', 'resolved', 'open'];

/** Reads of other conversations all the while, so that some statement is always under way. */
async function whileBusy(work: () => Promise<void>): Promise<void> {
  const keys = await Promise.all(Array.from({ length: 4 }, () => ws.makeKey()));
  const done = new AbortController();
  const busy = keys.map(async (key, i) => {
    const request = clientFor(reader.baseUrl, key);
    for (let n = i; !done.signal.aborted; n++) {
      await request('GET', `/conversations/${others[n % others.length]!.id}`);
      await new Promise((resolve) => setTimeout(resolve, 5)); // its minute has a thousand requests
    }
  });
  try {
    await work();
  } finally {
    done.abort();
  }
  await Promise.all(busy);
}

test('a change made in one process is in the next read of another: the conversation, its list, its total', () =>
  whileBusy(async () => {
    for (let round = 0; round < 60; round++) {
      const status = statuses[round % statuses.length]!;
      await patchConversation(ws, id, { status });
      const [one, list] = await Promise.all([
        elsewhere('GET', `/conversations/${id}`),
        elsewhere('GET', `/conversations?status=${status}`),
      ]);
      assert.equal(one.body.data.status, status);
      assert.equal(list.body.data[0].id, id);
      assert.equal(list.body.meta.total, list.body.data.length);
    }
  }));

test('names changed in one process are in the next read of another', () =>
  whileBusy(async () => {
    for (let round = 0; round < 20; round++) {
      const name = `Name ${round}`;
      await ws.request('PUT', `/contacts/${contact.id}`, { name });
      await ws.request('PATCH', `/channels/${channel.id}`, { name });
      const { data } = (await elsewhere('GET', `/conversations/${id}`)).body;
      assert.deepEqual([data.contact.name, data.channel.name], [name, name]);
    }
  }));

test('reads at once are each answered for themselves: other workspaces and unknown ids among them', async () => {
  const strangers = await Promise.all([writer.workspace(), writer.workspace()]);
  const unknown = id.replace(/.{4}$/, 'zzzz');
  const all = [ws, ...strangers].flatMap(({ key }) =>
    [id, unknown, ...others.map((other) => other.id)].map((asked) => ({ key, asked })),
  );
  const answers = await Promise.all(
    all.map(({ key, asked }) => clientFor(reader.baseUrl, key)('GET', `/conversations/${asked}`)),
  );
  answers.forEach(({ status, body }, i) => {
    const { key, asked } = all[i]!;
    if (key !== ws.key || asked === unknown) assert.equal(status, 404);
    else assert.equal(body.data.id, asked);
  });
});
