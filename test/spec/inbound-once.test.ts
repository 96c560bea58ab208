import assert from 'node:assert/strict';
import test from 'node:test';
import {
  dataOf,
  type Data,
  eventsDuring,
  eventsOf,
  inParallel,
  makeChannel,
  makeConversation,
  messagesOf,
  patchConversation,
  read,
  receive,
} from '../factory.ts';
import { clientFor, startService } from '../harness.ts';

/** Two servers on one database: what is once must be once over both. */
const service = await startService();
const second = await startService({ url: service.databaseUrl });

async function setting() {
  const ws = await service.workspace();
  const requests = [ws.request, clientFor(second.baseUrl, ws.key)];
  const channel = await makeChannel(ws);
  const post = (n: number, body: object, id = channel.id) =>
    requests[n % 2]!('POST', `/channels/${id}/inbound`, { content: 'Hi', ...body });
  return { ws, channel, post };
}

const fifty = Array.from({ length: 50 });
const distinct = (ids: string[]) => new Set(ids).size;

test('50 first messages of one new customer at once make one contact and one conversation', async () => {
  const { ws, post } = await setting();
  const from = { external_id: 'newcomer', phone: '+4915112345678', email: 'new@example.com', name: 'Ada' };
  const made: Data[] = await inParallel(fifty, 50, async (_, n) =>
    dataOf(await post(n, { from, content: `${n}` }), 201),
  );
  assert.equal(distinct(made.map(({ contact }) => contact.id)), 1);
  assert.equal(distinct(made.map(({ conversation }) => conversation.id)), 1);
  assert.equal((await read(ws, '/contacts')).length, 1);
  assert.equal((await read(ws, '/conversations')).length, 1);
  assert.equal((await messagesOf(ws, made[0].conversation.id)).length, 50);
  const names = (await eventsOf(service, ws)).map(({ event }) => event);
  const count = (name: string) => names.filter((one) => one === name).length;
  assert.equal(count('contact.created'), 1);
  assert.equal(count('conversation.created'), 1);
  assert.equal(count('message.created'), 50);
});

test('first messages at once that know the customer by different names, one shared, make one contact', async () => {
  const { ws, post } = await setting();
  const phone = '+4915112345679';
  const froms = [{ phone }, { phone, external_id: 'v' }, { phone, email: 'v@example.com' }];
  await inParallel(fifty, 50, async (_, n) => dataOf(await post(n, { from: froms[n % 3] }), 201));
  assert.equal((await read(ws, '/contacts')).length, 1);
  assert.equal((await read(ws, '/conversations')).length, 1);
});

test('first messages of one customer on two channels at once make one contact and two conversations', async () => {
  const { ws, channel, post } = await setting();
  const other = await makeChannel(ws);
  const from = { phone: '+4915112345678' };
  await inParallel(fifty, 50, async (_, n) =>
    dataOf(await post(n, { from }, n % 4 < 2 ? channel.id : other.id), 201),
  );
  assert.equal((await read(ws, '/contacts')).length, 1);
  assert.equal((await read(ws, '/conversations')).length, 2);
});

test('many customers at once are many contacts, none mixed up', async () => {
  const { ws, post } = await setting();
  const made: Data[] = await inParallel(fifty, 50, async (_, n) =>
    dataOf(await post(n, { from: { external_id: `v${n}` }, content: `${n}` }), 201),
  );
  assert.equal(distinct(made.map(({ contact }) => contact.id)), 50);
  for (const [n, { conversation }] of made.entries()) {
    assert.deepEqual(
      (await messagesOf(ws, conversation.id)).map(({ content }) => content),
      [`${n}`],
    );
  }
});

test('50 messages at once into a resolved conversation reopen it once', async () => {
  const { ws, channel, post } = await setting();
  const from = { external_id: 'v' };
  const { conversation } = await receive(ws, channel.id, { from });
  await patchConversation(ws, conversation.id, { status: 'resolved' });
  const events = await eventsDuring(service, ws, () => inParallel(fifty, 50, (_, n) => post(n, { from })));
  assert.equal(events.filter(({ event }) => event === 'conversation.updated').length, 1);
  assert.equal((await read(ws, '/conversations')).length, 1);
});

test('on a channel with after_resolved new, 50 at once after a resolved conversation begin one new one', async () => {
  const { ws, post } = await setting();
  const own = await makeChannel(ws, { after_resolved: 'new' });
  const from = { external_id: 'v' };
  const { conversation } = await receive(ws, own.id, { from });
  await patchConversation(ws, conversation.id, { status: 'resolved' });
  await inParallel(fifty, 50, async (_, n) => dataOf(await post(n, { from }, own.id), 201));
  assert.equal((await read(ws, '/conversations')).length, 2);
});

test('a repeated external_id answers 200 with what the first one made, and adds nothing', async () => {
  const { ws, channel } = await setting();
  const body = { from: { external_id: 'v' }, content: 'Hi', external_id: 'm1' };
  const path = `/channels/${channel.id}/inbound`;
  const first = await ws.request('POST', path, body);
  assert.equal(first.status, 201);
  const events = await eventsDuring(service, ws, async () => {
    const repeat = await ws.request('POST', path, body);
    assert.equal(repeat.status, 200);
    assert.deepEqual(repeat.body, first.body);
  });
  assert.deepEqual(events, []);
  assert.equal((await messagesOf(ws, first.body.data.conversation.id)).length, 1);
});

test('a repeat is recognised also when its text differs, and shows the first text', async () => {
  const { ws, channel } = await setting();
  const from = { external_id: 'v' };
  await receive(ws, channel.id, { from, content: 'first', external_id: 'm1' });
  const repeat = await ws.request('POST', `/channels/${channel.id}/inbound`, {
    from,
    content: 'second',
    external_id: 'm1',
  });
  assert.equal(repeat.status, 200);
  assert.equal(repeat.body.data.message.content, 'first');
});

test('a repeat does not reopen a conversation resolved since', async () => {
  const { ws, channel } = await setting();
  const body = { from: { external_id: 'v' }, external_id: 'm1' };
  const { conversation } = await receive(ws, channel.id, body);
  await patchConversation(ws, conversation.id, { status: 'resolved' });
  await ws.request('POST', `/channels/${channel.id}/inbound`, { content: 'Hi', ...body });
  assert.equal((await read(ws, `/conversations/${conversation.id}`)).status, 'resolved');
});

test('50 repeats of one external_id at once store one message: one 201, the others 200', async () => {
  const { ws, post } = await setting();
  const body = { from: { external_id: 'v' }, external_id: 'm1' };
  const answers = await inParallel(fifty, 50, (_, n) => post(n, body));
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => b - a);
  assert.deepEqual(statuses, [201, ...Array.from({ length: 49 }, () => 200)]);
  assert.equal(distinct(answers.map((answer) => answer.body.data.message.id)), 1);
  assert.equal((await messagesOf(ws, answers[0]!.body.data.conversation.id)).length, 1);
});

test('one external_id from two customers at once on one channel is one message', async () => {
  const { ws, post } = await setting();
  const answers = await inParallel(fifty, 50, (_, n) =>
    post(n, { from: { external_id: `v${n % 5}` }, external_id: 'm1' }),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.equal((await read(ws, '/conversations')).length, 1);
});

test('the same external_id on another channel or in another workspace is another message', async () => {
  const { ws, channel } = await setting();
  const body = { from: { external_id: 'v' }, external_id: 'm1' };
  const here = await receive(ws, channel.id, body);
  const there = await receive(ws, (await makeChannel(ws)).id, body);
  const other = await service.workspace();
  const elsewhere = await receive(other, (await makeChannel(other)).id, body);
  assert.equal(distinct([here, there, elsewhere].map(({ message }) => message.id)), 3);
});

test('messages without external_id are never taken for repeats', async () => {
  const { ws, channel } = await setting();
  const body = { from: { external_id: 'v' }, content: 'Hi' };
  const [one, two] = [await receive(ws, channel.id, body), await receive(ws, channel.id, body)];
  assert.notEqual(one.message.id, two.message.id);
});

test('messages, changes and incoming messages at once in one conversation are numbered without a gap', async () => {
  const { ws, channel, post } = await setting();
  const { contact, conversation } = await receive(ws, channel.id, { from: { external_id: 'v' } });
  await inParallel(fifty, 25, async (_, n) => {
    if (n % 3 === 0) return post(n, { from: { external_id: 'v' } });
    if (n % 3 === 1) return patchConversation(ws, conversation.id, { labels: [`l${n}`] });
    return ws.request('POST', `/conversations/${conversation.id}/messages`, { content: `${n}` });
  });
  const rows = await service.sql<{ seq: number }>(
    `select seq from messages where workspace_id = $1 order by seq`,
    [ws.uuid],
  );
  assert.deepEqual(
    rows.map(({ seq }) => seq),
    Array.from({ length: rows.length }, (_, n) => n + 1),
  );
  assert.equal(rows.length, 51);
  const unrelated = await makeConversation(ws, { contact_id: contact.id, channel_id: channel.id });
  assert.deepEqual(await messagesOf(ws, unrelated.id), []);
});
