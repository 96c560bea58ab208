import assert from 'node:assert/strict';
import test from 'node:test';
import {
  assertError,
  create,
  type Data,
  dataOf,
  eventually,
  inParallel,
  messagesOf,
  patchConversation,
  read,
  sendMessage,
} from '../../../test/factory.ts';
import { atEnd, startService } from '../../../test/harness.ts';
import { makeWebchat, visit, type VisitorClient, visitorWith } from '../../../test/webchat.ts';
import { startDispatchWorker } from '../dispatch/worker.ts';

const service = await startService();
const worker = startDispatchWorker(service.ctx);
atEnd(() => worker.stop());
/** Another process on the same database. */
const beside = await startService({ url: service.databaseUrl });
const ws = await service.workspace();
const channel = await makeWebchat(ws);
const separate = await makeWebchat(ws, {}, { after_resolved: 'new' });
test.beforeEach(() => service.sql('delete from rate_windows'));

const contents = (messages: Data[]): string[] => messages.map(({ content }) => content);

/** The newest conversation on the channel: whoever has just written. */
async function newest(channelId: string): Promise<string> {
  const conversations = await read(ws, `/conversations?channel_id=${channelId}&per_page=1`);
  return conversations[0].id;
}

async function written(visitor: VisitorClient, content: string, channelId = channel.id): Promise<string> {
  dataOf(await visitor.send(content), 201);
  return newest(channelId);
}

test('a stream tells what was said, then each new message as it comes, from visitor and agent', async () => {
  const visitor = await visit(service, channel.id);
  const conversation = await written(visitor, 'one');
  const stream = await visitor.stream();
  await stream.received(1);
  await sendMessage(ws, conversation, { content: 'two' });
  await stream.received(2);
  await visitor.send('three');
  assert.deepEqual(contents(await stream.received(3)), ['one', 'two', 'three']);
  assert.deepEqual(Object.keys(stream.messages[1]), [
    'id',
    'from',
    'author',
    'content',
    'attachments',
    'created_at',
  ]);
  stream.close();
});

test('a stream that was there before the visitor had written anything hears the first message', async () => {
  const visitor = await visit(service, channel.id);
  const [here, there] = [
    await visitor.stream(),
    await visitorWith(beside, channel.id, visitor.token).stream(),
  ];
  const conversation = await written(visitor, 'first');
  await Promise.all([here.received(1), there.received(1)]);
  await sendMessage(ws, conversation, { content: 'answer' });
  assert.deepEqual(contents(await here.received(2)), ['first', 'answer']);
  assert.deepEqual(contents(await there.received(2)), ['first', 'answer']);
  here.close();
  there.close();
});

test('a stream in one process hears at once what another process was told', async () => {
  const visitor = await visit(service, channel.id);
  const conversation = await written(visitor, 'one');
  const stream = await visitorWith(beside, channel.id, visitor.token).stream();
  await stream.received(1);
  const begun = performance.now();
  await sendMessage(ws, conversation, { content: 'two' });
  await stream.received(2);
  assert.ok(performance.now() - begun < 2_000);
  stream.close();
});

test('a stream goes on after its cursor: from the history, from Last-Event-ID, from ?after=', async () => {
  const visitor = await visit(service, channel.id);
  const conversation = await written(visitor, 'one');
  const { cursor } = await visitor.history();
  await sendMessage(ws, conversation, { content: 'two' });
  await sendMessage(ws, conversation, { content: 'three' });
  const first = await visitor.stream(cursor);
  assert.deepEqual(contents(await first.received(2)), ['two', 'three']);
  first.close();
  await sendMessage(ws, conversation, { content: 'four' });
  const second = await visitor.stream(first.cursor());
  assert.deepEqual(contents(await second.received(1)), ['four']);
  second.close();

  const url = `${service.baseUrl}/channels/${channel.id}/webchat/events?after=${encodeURIComponent(first.cursor())}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${visitor.token}` } });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('four')) text += (await reader.read()).value ?? '';
  assert.doesNotMatch(text, /"three"/);
  await reader.cancel();
});

test('notes and activities between messages make neither gap nor double', async () => {
  const visitor = await visit(service, channel.id);
  const conversation = await written(visitor, 'one');
  const stream = await visitor.stream();
  await sendMessage(ws, conversation, { content: 'a note', private: true });
  await patchConversation(ws, conversation, { status: 'pending' });
  await sendMessage(ws, conversation, { content: 'two' });
  await patchConversation(ws, conversation, { status: 'resolved' });
  await stream.received(2);
  stream.close();
  await sendMessage(ws, conversation, { content: 'another note', private: true });
  await sendMessage(ws, conversation, { content: 'three' });
  const again = await visitor.stream(stream.cursor());
  assert.deepEqual(contents(await again.received(1)), ['three']);
  again.close();
  assert.deepEqual(contents(stream.messages), ['one', 'two']);
});

test('with several conversations written to at once, streams that break off at any point lose and double nothing', async () => {
  const visitor = await visit(service, separate.id);
  const conversations: string[] = [];
  for (const part of [1, 2, 3]) {
    conversations.push(await written(visitor, `question ${part}`, separate.id));
    await patchConversation(ws, conversations.at(-1)!, { status: 'resolved' });
  }
  const told: Data[] = [];
  let cursor = '';
  let done = false;
  const listening = async () => {
    while (!done || told.length < 63) {
      const stream = await visitor.stream(cursor);
      await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 40));
      stream.close();
      await stream.ended;
      told.push(...stream.messages);
      cursor = stream.cursor();
    }
  };
  const writing = inParallel(Array.from({ length: 60 }), 6, (_, place) =>
    sendMessage(ws, conversations[place % 3]!, { content: `answer ${place}` }),
  ).then(() => (done = true));
  await Promise.all([listening(), writing]);

  const ids = told.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, 'nothing came twice');
  for (const conversation of conversations) {
    const stored = (await messagesOf(ws, conversation)).filter(({ type }) => type !== 'activity');
    const order = stored.map(({ id }) => id);
    assert.deepEqual(
      ids.filter((id) => order.includes(id)),
      order,
      'each conversation came whole and in its order',
    );
  }
});

test('what history has shown a stream from its cursor does not tell again, while messages are being written', async () => {
  const visitor = await visit(service, channel.id);
  const conversation = await written(visitor, 'question');
  let writing = true;
  const writer = inParallel(Array.from({ length: 40 }), 4, (_, place) =>
    sendMessage(ws, conversation, { content: `answer ${place}` }),
  ).finally(() => (writing = false));
  while (writing) {
    const page = await visitor.history();
    const stream = await visitor.stream(page.cursor);
    await new Promise((resolve) => setTimeout(resolve, 15));
    stream.close();
    await stream.ended;
    const seen = [...page.messages, ...stream.messages].map(({ id }) => id);
    const stored = (await messagesOf(ws, conversation)).map(({ id }) => id);
    assert.deepEqual(seen, stored.slice(0, seen.length), 'neither gap nor double');
  }
  await writer;
});

test('a new conversation and an older one that goes on are both told of', async () => {
  const visitor = await visit(service, separate.id);
  const old = await written(visitor, 'old question', separate.id);
  await patchConversation(ws, old, { status: 'resolved' });
  const stream = await visitor.stream();
  await written(visitor, 'new question', separate.id);
  await stream.received(2);
  await sendMessage(ws, old, { content: 'late answer' });
  assert.deepEqual(contents(await stream.received(3)), ['old question', 'new question', 'late answer']);
  stream.close();
});

test('a visitor hears nothing of another’s', async () => {
  const [mia, max] = [await visit(service, channel.id), await visit(service, channel.id)];
  await written(mia, 'from Mia');
  const stream = await mia.stream();
  await stream.received(1);
  const theirs = await written(max, 'from Max');
  await sendMessage(ws, theirs, { content: 'to Max' });
  await written(mia, 'from Mia again');
  assert.deepEqual(contents(await stream.received(2)), ['from Mia', 'from Mia again']);
  stream.close();
});

test('another visitor’s cursor opens nothing of theirs', async () => {
  const [mia, max] = [await visit(service, channel.id), await visit(service, channel.id)];
  await written(mia, 'from Mia');
  await written(max, 'from Max');
  const stream = await max.stream((await mia.history()).cursor.replace(/:\d+$/, ':0'));
  assert.deepEqual(contents(await stream.received(1)), ['from Max']);
  stream.close();
});

test('more than a page of messages comes whole and in order', async () => {
  const visitor = await visit(service, channel.id);
  const conversation = await written(visitor, 'question');
  for (let count = 0; count < 130; count++) await sendMessage(ws, conversation, { content: `${count}` });
  const stream = await visitor.stream();
  const told = contents(await stream.received(131));
  assert.deepEqual(told, ['question', ...Array.from({ length: 130 }, (_, place) => `${place}`)]);
  stream.close();
});

test('a visitor of many conversations hears of the newest ten, and a cursor stays short', async () => {
  const visitor = await visit(service, separate.id);
  for (let count = 0; count < 12; count++) {
    const conversation = await written(visitor, `question ${count}`, separate.id);
    await patchConversation(ws, conversation, { status: 'resolved' });
  }
  const stream = await visitor.stream();
  await stream.received(10);
  assert.equal(stream.messages[0].content, 'question 2');
  assert.ok(stream.cursor().length < 1_000);
  await written(visitor, 'question 12', separate.id);
  await stream.received(11);
  stream.close();
  const again = await visitor.stream(stream.cursor());
  await written(visitor, 'and on', separate.id);
  assert.deepEqual(contents(await again.received(1)), ['and on']);
  again.close();
});

test('a cursor that the service never gave is refused', async () => {
  const visitor = await visit(service, channel.id);
  for (const cursor of ['nonsense', 'conv_x:1', `${'conv_0'.padEnd(31, '0')}:-1`, 'a,b']) {
    assertError(
      await visitor.request('GET', '/events', undefined, { 'last-event-id': cursor }),
      400,
      'after',
    );
    assertError(await visitor.request('GET', `/events?after=${encodeURIComponent(cursor)}`), 400, 'after');
  }
});

test('a visitor has ten streams at a time; one that ends makes room', async () => {
  const visitor = await visit(service, channel.id);
  const streams = await Promise.all(Array.from({ length: 10 }, () => visitor.stream()));
  const refused = await visitor.request('GET', '/events');
  assertError(refused, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  streams[0]!.close();
  await eventually(
    2_000,
    async () => visitor.stream().catch(() => undefined),
    (stream) => stream !== undefined && streams.push(stream) > 0,
  );
  for (const stream of streams) stream.close();
});

test('no answer may be kept by a cache or collected by a proxy', async () => {
  const visitor = await visit(service, channel.id);
  const response = await fetch(`${service.baseUrl}/channels/${channel.id}/webchat/events`, {
    headers: { authorization: `Bearer ${visitor.token}` },
  });
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.equal(response.headers.get('x-accel-buffering'), 'no');
  await response.body!.cancel();
});

test('a message that an agent writes while nobody listens is told when the database’s news is heard again', async () => {
  const visitor = await visit(service, channel.id);
  const conversation = await written(visitor, 'one');
  const stream = await visitor.stream();
  await stream.received(1);
  await service.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and query like 'listen%'`,
  );
  await sendMessage(ws, conversation, { content: 'two' });
  assert.deepEqual(contents(await stream.received(2)), ['one', 'two']);
  stream.close();
});

test('the service stops at once though streams are open: they end, and go on with the next process', async () => {
  const stopping = await startService({ url: service.databaseUrl });
  const visitor = await visit(service, channel.id);
  const conversation = await written(visitor, 'one');
  const streams = await Promise.all(
    Array.from({ length: 5 }, () => visitorWith(stopping, channel.id, visitor.token).stream()),
  );
  await Promise.all(streams.map((stream) => stream.received(1)));
  const begun = performance.now();
  await stopping.close();
  assert.ok(performance.now() - begun < 2_000, `${performance.now() - begun} ms`);
  await Promise.all(streams.map(({ ended }) => ended));
  await sendMessage(ws, conversation, { content: 'two' });
  const next = await visitor.stream(streams[0]!.cursor());
  assert.deepEqual(contents(await next.received(1)), ['two']);
  next.close();
});

test('a conversation that an agent begins is told of at once', async () => {
  const visitor = await visit(service, channel.id);
  const conversation = await written(visitor, 'Hi');
  const stream = await visitor.stream();
  await stream.received(1);
  const { contact } = await read(ws, `/conversations/${conversation}`);
  await create(ws, '/conversations', {
    contact_id: contact.id,
    channel_id: channel.id,
    message: { content: 'News for you' },
  });
  assert.deepEqual(contents(await stream.received(2)), ['Hi', 'News for you']);
  stream.close();
});
