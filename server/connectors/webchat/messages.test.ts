import assert from 'node:assert/strict';
import test from 'node:test';
import {
  assertError,
  create,
  type Data,
  dataOf,
  inParallel,
  makeAgent,
  messagesOf,
  patchConversation,
  read,
  sendMessage,
} from '../../../test/factory.ts';
import { startService } from '../../../test/harness.ts';
import { makeWebchat, visit, type VisitorClient } from '../../../test/webchat.ts';
import { fromId } from '../../ids.ts';

const service = await startService();
const ws = await service.workspace();
const channel = await makeWebchat(ws);
const agent = await makeAgent(ws, { name: 'Grace Hopper' });
const agentKey = await ws.makeKey({ agentId: fromId('agent', agent.id)! });
test.beforeEach(() => service.sql('delete from rate_windows'));

const contents = ({ messages }: Data): string[] => messages.map(({ content }: Data) => content);

/** The conversation the visitor's last message went to. */
async function conversationOf(visitor: VisitorClient): Promise<string> {
  const last = (await visitor.history()).messages.at(-1);
  const [row] = await service.sql<{ conversation_id: string }>(
    'select conversation_id from messages where id = $1',
    [fromId('message', last.id)],
  );
  const conversations = await read(ws, '/conversations?per_page=100');
  return conversations.find(({ id }: Data) => fromId('conversation', id) === row!.conversation_id).id;
}

test('a visitor’s first message makes a contact, a conversation and a message, and says only what they wrote', async () => {
  const visitor = await visit(service, channel.id);
  const message = dataOf(await visitor.send('Where is my order?'), 201);
  assert.deepEqual(Object.keys(message), ['id', 'from', 'author', 'content', 'attachments', 'created_at']);
  assert.equal(message.from, 'visitor');
  assert.equal(message.author, null);
  const [stored] = await messagesOf(ws, await conversationOf(visitor));
  assert.equal(stored.content, 'Where is my order?');
  assert.equal(stored.type, 'incoming');
  assert.match(stored.sender.name, /^Visitor [0-9a-f]{4}$/);
});

test('the same external_id is stored once, even when all come at once; the repeats answer 200', async () => {
  const visitor = await visit(service, channel.id);
  const answers = await inParallel(Array.from({ length: 12 }), 12, () => visitor.send('Once', 'm-1'));
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.equal(answers.filter(({ status }) => status === 200).length, 11);
  assert.equal(new Set(answers.map(({ body }) => body.data.id)).size, 1);
  assert.deepEqual(contents(await visitor.history()), ['Once']);
});

test('another visitor’s external_id is not mine: neither reads nor blocks the other’s message', async () => {
  const [mia, max] = [await visit(service, channel.id), await visit(service, channel.id)];
  await mia.send('Mia’s own', 'the-same');
  const answer = await max.send('Max’s own', 'the-same');
  assert.equal(dataOf(answer, 201).content, 'Max’s own');
});

test('a visitor sees their own messages and never another’s', async () => {
  const [mia, max] = [await visit(service, channel.id), await visit(service, channel.id)];
  await mia.send('From Mia');
  await max.send('From Max');
  assert.deepEqual(contents(await mia.history()), ['From Mia']);
  assert.deepEqual(contents(await max.history()), ['From Max']);
});

test('nobody has said anything yet: an empty history', async () => {
  const visitor = await visit(service, channel.id);
  assert.deepEqual(await visitor.history(), { messages: [], before: null, cursor: '' });
});

test('an answer carries the agent’s name, or that of the key of a bot, and its attachments', async () => {
  const visitor = await visit(service, channel.id);
  await visitor.send('Hi');
  const conversation = await conversationOf(visitor);
  const attachment = {
    url: 'https://93.184.215.14/a.pdf',
    content_type: 'application/pdf',
    file_name: 'a.pdf',
  };
  const asAgent = {
    request: (...[m, p, b]: [string, string, unknown?]) => ws.request(m, p, b, { key: agentKey }),
  };
  await sendMessage(asAgent, conversation, { content: 'From a person', attachments: [attachment] });
  await sendMessage(ws, conversation, { content: 'From a bot' });
  const [, person, bot] = (await visitor.history()).messages;
  assert.deepEqual([person.from, person.author, person.attachments], ['agent', 'Grace Hopper', [attachment]]);
  assert.deepEqual([bot.from, bot.author, bot.attachments], ['agent', 'Test key', []]);
});

test('internal notes and activities are never shown, nor is what agents call the visitor', async () => {
  const visitor = await visit(service, channel.id);
  await visitor.send('Hi');
  const conversation = await conversationOf(visitor);
  const [{ sender }] = await messagesOf(ws, conversation);
  await ws.request('PUT', `/contacts/${sender.id}`, { name: 'Difficult customer' });
  await sendMessage(ws, conversation, { content: 'Careful with this one', private: true });
  await patchConversation(ws, conversation, {
    status: 'resolved',
    assignee_id: agent.id,
    labels: ['difficult'],
  });
  await sendMessage(ws, conversation, { content: 'For you' });
  const answer = await visitor.request('GET', '/messages');
  assert.deepEqual(contents(answer.body.data), ['Hi', 'For you']);
  assert.doesNotMatch(answer.text, /[Dd]ifficult|Careful|resolved|activity/);
  const stream = await visitor.stream();
  await stream.received(2);
  assert.deepEqual(contents(stream), ['Hi', 'For you']);
  stream.close();
});

test('history is the last 50 messages, oldest first, and pages back over several conversations to the first', async () => {
  const separate = await makeWebchat(ws, {}, { after_resolved: 'new' });
  const visitor = await visit(service, separate.id);
  const expected: string[] = [];
  for (let part = 0; part < 3; part++) {
    await visitor.send(`question ${part}`);
    expected.push(`question ${part}`);
    const conversation = await conversationOf(visitor);
    for (let count = 0; count < 39; count++) {
      await sendMessage(ws, conversation, { content: `answer ${part}.${count}` });
      expected.push(`answer ${part}.${count}`);
    }
    await patchConversation(ws, conversation, { status: 'resolved' });
  }
  const pages: string[][] = [];
  let before: string | null = '';
  while (before !== null) {
    const page: Data = await visitor.history(before && `?before=${before}`);
    pages.unshift(contents(page));
    before = page.before;
  }
  assert.deepEqual(
    pages.map(({ length }) => length),
    [20, 50, 50],
  );
  assert.deepEqual(pages.flat(), expected);
});

test('a page before a message of somebody else shows nothing, and before nonsense is refused', async () => {
  const [mia, max] = [await visit(service, channel.id), await visit(service, channel.id)];
  await mia.send('Mine');
  const theirs = dataOf(await max.send('Theirs'), 201);
  assert.deepEqual((await mia.history(`?before=${theirs.id}`)).messages, []);
  assertError(await mia.request('GET', '/messages?before=nonsense'), 422, 'before');
});

test('a message that is empty, too long or no text is refused, and the longest is taken', async () => {
  const visitor = await visit(service, channel.id);
  assertError(await visitor.send(' \n '), 422, 'content');
  assertError(await visitor.send('x'.repeat(10_001)), 422, 'content');
  assertError(await visitor.request('POST', '/messages', {}), 400, 'content');
  assertError(await visitor.request('POST', '/messages', { content: 5 }), 400, 'content');
  assertError(await visitor.send('Hi\u0000'), 400);
  assertError(await visitor.send('Hi', 'not an id!'), 422, 'external_id');
  dataOf(await visitor.send('\u{1F98A}'.repeat(10_000)), 201);
});

test('what a visitor writes comes back letter for letter', async () => {
  const visitor = await visit(service, channel.id);
  const text =
    '<img src=x onerror=alert(1)> "quotes" \\ \u202e עברית \u{1F468}\u200d\u{1F469} e\u0301\n\tline 2';
  await visitor.send(text);
  assert.deepEqual(contents(await visitor.history()), [text]);
});

test('a message into a resolved conversation reopens it', async () => {
  const visitor = await visit(service, channel.id);
  await visitor.send('First');
  const conversation = await conversationOf(visitor);
  await patchConversation(ws, conversation, { status: 'resolved' });
  await visitor.send('Second');
  assert.equal((await read(ws, `/conversations/${conversation}`)).status, 'open');
  assert.deepEqual(contents(await visitor.history()), ['First', 'Second']);
});

test('a conversation that an agent begins with a visitor is the visitor’s too', async () => {
  const visitor = await visit(service, channel.id);
  await visitor.send('Hi');
  const [{ sender }] = await messagesOf(ws, await conversationOf(visitor));
  await create(ws, '/conversations', {
    contact_id: sender.id,
    channel_id: channel.id,
    message: { content: 'News for you' },
  });
  assert.deepEqual(contents(await visitor.history()), ['Hi', 'News for you']);
});

test('one visitor may read 120 times a minute', async () => {
  const visitor = await visit(service, channel.id);
  const answers = await inParallel(Array.from({ length: 121 }), 4, () => visitor.request('GET', '/messages'));
  assert.deepEqual(
    answers.filter(({ status }) => status !== 200).map(({ status }) => status),
    [429],
  );
});

test('one visitor may write 60 messages a minute, and others are not held up', async () => {
  const [busy, calm] = [await visit(service, channel.id), await visit(service, channel.id)];
  const answers = await inParallel(Array.from({ length: 61 }), 4, (_, place) => busy.send(`${place}`));
  const refused = answers.filter(({ status }) => status !== 201);
  assert.equal(refused.length, 1);
  assertError(refused[0]!, 429);
  assert.ok(Number(refused[0]!.headers.get('retry-after')) > 0);
  dataOf(await calm.send('Hi'), 201);
});
