import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import {
  assertError,
  type Data,
  dataOf,
  eventsOf,
  eventually,
  inParallel,
  makeChannel,
  makeContact,
  makeConversation,
  messagesOf,
} from '../../../test/factory.ts';
import { startService, type Workspace } from '../../../test/harness.ts';
import { fromId } from '../../ids.ts';

const service = await startService();
const poison = 'poison';
await service.sql(`create function refuse() returns trigger language plpgsql as $$
  begin
    if new.content = '${poison}' then raise exception 'refused'; end if;
    return new;
  end $$`);
await service.sql('create trigger refuse before insert on messages for each row execute function refuse()');

async function conversationsOf(ws: Workspace, count: number): Promise<string[]> {
  const contact_id = (await makeContact(ws)).id;
  const channel_id = (await makeChannel(ws)).id;
  const made = await inParallel(Array.from({ length: count }), 8, () =>
    makeConversation(ws, { contact_id, channel_id }),
  );
  return made.map(({ id }: Data) => id);
}

const send = (ws: Workspace, id: string, content: string) =>
  ws.request('POST', `/conversations/${id}/messages`, { content });

const transactionsOf = async ({ uuid }: Workspace): Promise<number> =>
  (await service.sql('select distinct xmin::text from messages where workspace_id = $1', [uuid])).length;

test('messages sent at once share transactions, and each has its own number, time, event and answer', async () => {
  const ws = await service.workspace();
  const ids = await conversationsOf(ws, 40);
  const answers = await Promise.all(
    ids.map((id, i) => send(ws, id, `Message ${i}: "{\\, ü\u{1F98A}}" NULL`)),
  );
  const events = await eventsOf(service, ws, 'message.created');
  for (const [i, id] of ids.entries()) {
    const data = dataOf(answers[i]!, 201);
    assert.deepEqual(await messagesOf(ws, id), [data]);
    assert.equal(data.content, `Message ${i}: "{\\, ü\u{1F98A}}" NULL`);
    const raised = events.filter((event) => event.data.conversation.id === id);
    assert.deepEqual(
      raised.map((event) => [event.data.message.id, event.timestamp]),
      [[data.id, data.created_at]],
    );
    const conversation = dataOf(await ws.request('GET', `/conversations/${id}`), 200);
    assert.equal(conversation.updated_at, data.created_at);
  }
  const count = await transactionsOf(ws);
  assert.ok(count < ids.length, `${count} transactions`);
});

test('a message that is refused has its error, and those sent with it are sent', async () => {
  const [ws, other] = [await service.workspace(), await service.workspace()];
  const ids = await conversationsOf(ws, 20);
  const [foreign] = await conversationsOf(other, 1);
  const [answers, blank, unknown, strangers] = await Promise.all([
    Promise.all(ids.slice(1).map((id) => send(ws, id, 'Hello'))),
    send(ws, ids[0]!, ' '),
    send(ws, 'conv_nobody', 'Hello'),
    send(ws, foreign!, 'Hello'),
  ]);
  for (const answer of answers) dataOf(answer, 201);
  assertError(blank, 422, 'content');
  assertError(unknown, 404);
  assertError(strangers, 404);
  assert.deepEqual(await messagesOf(other, foreign!), []);
});

test('a message that the database refuses takes none of those sent with it along', async () => {
  const ws = await service.workspace();
  const ids = await conversationsOf(ws, 20);
  const answers = await Promise.all(ids.map((id, i) => send(ws, id, i === 7 ? poison : 'Hello')));
  for (const [i, answer] of answers.entries()) {
    if (i === 7) assertError(answer, 500);
    else assert.deepEqual(await messagesOf(ws, ids[i]!), [dataOf(answer, 201)]);
  }
  assert.deepEqual(await messagesOf(ws, ids[7]!), []);
});

test('a conversation that somebody holds keeps no message of another waiting', async () => {
  const ws = await service.workspace();
  const ids = await conversationsOf(ws, 20);
  const [held, ...free] = ids as [string, ...string[]];
  const holder = new pg.Client({ connectionString: service.databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select from conversations where id = $1 for update', [fromId('conversation', held)]);
    let released = false;
    const waiting = send(ws, held, 'Hello').then((answer) => {
      assert.ok(released, 'not before it is free');
      return answer;
    });
    for (const answer of await Promise.all(free.map((id) => send(ws, id, 'Hello')))) dataOf(answer, 201);
    const count = await transactionsOf(ws);
    assert.ok(count < free.length, `they went without it, not one by one: ${count} transactions`);
    released = true;
    await holder.query('commit');
    const last = dataOf(await waiting, 201);
    assert.deepEqual(await messagesOf(ws, held), [last]);
  } finally {
    await holder.end();
  }
});

test('messages whose connection is lost before the commit are sent all the same', async () => {
  const ws = await service.workspace();
  const ids = await conversationsOf(ws, 10);
  const holder = new pg.Client({ connectionString: service.databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin; lock table conversations in access exclusive mode');
    const sending = ids.map((id) => send(ws, id, 'Hello'));
    const ended = await eventually(
      10_000,
      () =>
        service.sql(`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%skip locked%'`),
      (rows) => rows.length > 0,
    );
    assert.ok(ended.length <= 2, 'they waited together');
    await holder.query('commit');
    for (const [i, answer] of (await Promise.all(sending)).entries()) {
      assert.deepEqual(await messagesOf(ws, ids[i]!), [dataOf(answer, 201)]);
    }
  } finally {
    await holder.end();
  }
});

test('a crowd that writes into one conversation keeps no message of another waiting', async () => {
  const [ws, other] = [await service.workspace(), await service.workspace()];
  const [hot] = (await conversationsOf(ws, 1)) as [string];
  const [cold] = (await conversationsOf(other, 1)) as [string];
  let answered = 0;
  const crowd = Array.from({ length: 150 }, async (_, i) => {
    dataOf(await send(ws, hot, `Message ${i}`), 201);
    answered++;
  });
  await crowd[0]; // it is under way
  dataOf(await send(other, cold, 'Hello'), 201);
  assert.ok(answered < 20, `${answered} of the crowd were answered first`); // 36 when each took a connection, now 3
  await Promise.all(crowd);
});

test('messages sent at once into one conversation follow each other without a gap', async () => {
  const ws = await service.workspace();
  const [id] = (await conversationsOf(ws, 1)) as [string];
  const sent = await Promise.all(Array.from({ length: 20 }, (_, i) => send(ws, id, `Message ${i}`)));
  const stored = await messagesOf(ws, id);
  assert.deepEqual(
    new Set(stored.map((message) => message.id)),
    new Set(sent.map((answer) => dataOf(answer, 201).id)),
  );
  for (const [i, { created_at }] of stored.entries()) {
    assert.ok(i === 0 || stored[i - 1].created_at <= created_at, 'a later number has no earlier time');
  }
});
