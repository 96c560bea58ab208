import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { create, type Data, makeConversation, messagesOf, sendMessage } from '../../../test/factory.ts';
import type { Workspace } from '../../../test/harness.ts';
import { eventually, type Receiver, startReceiver } from '../../../test/receiver.ts';
import { killed, service, startWorker } from '../../../test/workers.ts';

/** Workers are processes of their own here, to be killed and stopped at the worst moment. */
async function calledBack(): Promise<{ ws: Workspace; receiver: Receiver; conversation: Data }> {
  const ws = await service.workspace();
  const receiver = await startReceiver();
  const settings = { callback_url: receiver.url('/messages') };
  const channel = await create(ws, '/channels', { type: 'api', name: 'Shop', settings });
  return { ws, receiver, conversation: await makeConversation(ws, { channel_id: channel.id }) };
}

const leaseRunsOut = ({ uuid }: Workspace) =>
  service.sql(`update outgoing_queue set leased_until = now() - interval '1 s' where workspace_id = $1`, [
    uuid,
  ]);
const waiting = async ({ uuid }: Workspace) =>
  (await service.sql('select from outgoing_queue where workspace_id = $1', [uuid])).length;
const keysOf = (receiver: Receiver) => receiver.received.map(({ headers }) => headers['idempotency-key']);

test('a message is queued by the transaction that creates it, a private note is not', async () => {
  const { ws, conversation } = await calledBack();
  assert.equal((await sendMessage(ws, conversation.id, { content: 'out' })).status, 'queued');
  assert.equal((await sendMessage(ws, conversation.id, { content: 'in', private: true })).status, null);
  assert.equal(await waiting(ws), 1);
});

test('kill -9 after the platform took a message and before that is written: sent again under the same key, once on record', async () => {
  const { ws, receiver, conversation } = await calledBack();
  let answering = false;
  receiver.answer((_received, response) => {
    if (answering) response.end('{}'); // the first one is held for ever
  });
  const doomed = await startWorker();
  const message = await sendMessage(ws, conversation.id, { content: 'once' });
  await receiver.waitFor(1);
  await killed(doomed);
  answering = true;
  await leaseRunsOut(ws);
  const worker = await startWorker();
  await receiver.waitFor(2);
  await eventually(async () => assert.equal((await messagesOf(ws, conversation.id))[0].status, 'sent'));
  assert.deepEqual(keysOf(receiver), [message.id, message.id]);
  assert.equal(receiver.received[0]!.body, receiver.received[1]!.body);
  await killed(worker);
});

test('a worker stopped past its lease while another sends overwrites nothing when it wakes', async () => {
  const { ws, receiver, conversation } = await calledBack();
  const held: (() => void)[] = [];
  receiver.answer((_received, response) => {
    if (held.length === 0)
      held.push(() => response.writeHead(422).end()); // what the sleeper will hear: refused for good
    else response.end('{}');
  });
  const sleeper = await startWorker();
  await sendMessage(ws, conversation.id, { content: 'fenced' });
  await receiver.waitFor(1);
  sleeper.signal('SIGSTOP');
  await sleep(500); // a claim it had sent off before must find the lease still running
  await leaseRunsOut(ws);
  const other = await startWorker();
  await eventually(async () => assert.equal((await messagesOf(ws, conversation.id))[0].status, 'sent'));
  held[0]!();
  sleeper.signal('SIGCONT');
  await sleep(500);
  const [message] = await messagesOf(ws, conversation.id);
  assert.deepEqual([message.status, message.error], ['sent', null]);
  await Promise.all([killed(sleeper), killed(other)]);
});

test('workers killed again and again lose no message, and each conversation keeps its order', async () => {
  const { ws, receiver, conversation } = await calledBack();
  receiver.answer((_received, response) => void setTimeout(() => response.end('{}'), 5));
  let worker = await startWorker();
  const contents = Array.from({ length: 60 }, (_, n) => `message ${n}`);
  for (const [n, content] of contents.entries()) {
    await sendMessage(ws, conversation.id, { content });
    if (n % 20 !== 19) continue;
    await killed(worker);
    await leaseRunsOut(ws);
    worker = await startWorker();
  }
  await eventually(async () => assert.equal(await waiting(ws), 0));
  const received = receiver.received.map(({ body }) => JSON.parse(body).message.content as string);
  assert.deepEqual([...new Set(received)], contents); // first arrivals, in order
  assert.ok(
    received.length <= contents.length + 3,
    `${received.length - contents.length} doubled by 3 kills`,
  );
  await killed(worker);
});

test('two workers send each message once', async () => {
  const { ws, receiver } = await calledBack();
  const settings = { callback_url: receiver.url('/messages') };
  const channel = await create(ws, '/channels', { type: 'api', name: 'Busy', settings });
  const conversations = await Promise.all(
    Array.from({ length: 10 }, () => makeConversation(ws, { channel_id: channel.id })),
  );
  const workers = await Promise.all([startWorker(), startWorker()]);
  await Promise.all(
    conversations.flatMap(({ id }) =>
      Array.from({ length: 20 }, (_, n) => sendMessage(ws, id, { content: `n ${n}` })),
    ),
  );
  await receiver.waitFor(200);
  await eventually(async () => assert.equal(await waiting(ws), 0));
  assert.equal(new Set(keysOf(receiver)).size, 200);
  assert.equal(receiver.received.length, 200);
  await Promise.all(workers.map(killed));
});
