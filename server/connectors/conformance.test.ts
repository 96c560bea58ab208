import assert from 'node:assert/strict';
import test from 'node:test';
import { assertError, type Data, messagesOf, sendMessage } from '../../test/factory.ts';
import { startService } from '../../test/harness.ts';
import { type Line, lineOptions, lines, meet } from '../../test/lines.ts';
import { eventually } from '../../test/receiver.ts';
import { emulatorEnv, startSendingService } from '../../test/whatsapp.ts';
import { channelTypes } from '../channels/types.ts';
import { createMetrics } from '../metrics.ts';
import { startDispatchWorker } from './dispatch/worker.ts';

/** What every kind of channel promises, however its platform works. A new kind adds its line in test/lines.ts. */
const service = await startSendingService(lineOptions);
const ws = await service.workspace();
const opened: Line[] = [];
for (const open of Object.values(lines)) opened.push(await open(service, ws));

const idle = await startService({
  ...lineOptions,
  env: { ...emulatorEnv, INBOX_CHANNEL_RETRY_SECONDS: '0.05' },
});
const quiet = await idle.workspace();

const statusOf = async (conversationId: string, { id }: Data) =>
  (await messagesOf(ws, conversationId)).find((message) => message.id === id);
const got = (line: Line, customer: number, expected: string[]) =>
  eventually(async () => assert.deepEqual(await line.got(customer), expected));

const texts = [
  'Grüße, 你好, שלום, नमस्ते',
  '\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} \u{1F1E9}\u{1F1EA}',
  'two\nlines\tand a tab, "quotes", \\backslash, </script>',
  'e\u0301 is not \u00e9; \u2028 \u2029 \uFEFF',
  ' spaces around ',
];

for (const line of opened) {
  const { type } = line;

  test(`${type}: what an agent writes reaches the customer byte for byte, in its order, and is sent`, async () => {
    const { customer, id } = await meet(ws, line);
    const sent = [];
    for (const content of texts) sent.push(await sendMessage(ws, id, { content }));
    await got(line, customer, texts);
    for (const message of sent) {
      await eventually(async () => assert.equal((await statusOf(id, message)).status, 'sent'));
    }
  });

  test(`${type}: what a customer writes is stored byte for byte`, async () => {
    const { customer, id } = await meet(ws, line);
    for (const [place, text] of texts.entries()) await line.says(customer, text, `text-${customer}-${place}`);
    const stored = (await messagesOf(ws, id)).slice(1);
    assert.deepEqual(
      stored.map(({ type, content }) => [type, content]),
      texts.map((text) => ['incoming', text]),
    );
  });

  test(`${type}: a message that comes again, also at once, is stored once`, async () => {
    const { customer, id } = await meet(ws, line);
    await Promise.all(Array.from({ length: 10 }, () => line.says(customer, 'Once', `once-${customer}`)));
    await line.says(customer, 'Once', `once-${customer}`);
    assert.equal((await messagesOf(ws, id)).filter(({ content }) => content === 'Once').length, 1);
  });

  test(`${type}: first messages of many customers at once, in any order, make one conversation each`, async () => {
    const customers = Array.from({ length: 8 }, (_, n) => 1_000 + n);
    const messages = customers.flatMap((customer) => [1, 2, 3].map((n) => ({ customer, n })));
    const shuffled = messages.toSorted(
      (a, b) => ((a.n * 7 + a.customer * 13) % 5) - ((b.n * 7 + b.customer * 13) % 5),
    );
    await Promise.all(
      shuffled.map(({ customer, n }) => line.says(customer, `Number ${n}`, `first-${customer}-${n}`)),
    );
    const { body } = await ws.request('GET', `/conversations?channel_id=${line.channelId}&per_page=100`);
    const theirs = await Promise.all(body.data.map(({ id }: Data) => messagesOf(ws, id)));
    const ofThese = theirs.filter((thread: Data[]) => thread[0]?.content.startsWith('Number'));
    assert.equal(ofThese.length, customers.length);
    for (const thread of ofThese) {
      assert.deepEqual(thread.map(({ content }: Data) => content).toSorted(), [
        'Number 1',
        'Number 2',
        'Number 3',
      ]);
    }
  });

  test(`${type}: no private note and no activity message reaches the customer`, async () => {
    const { customer, id } = await meet(ws, line);
    const note = await sendMessage(ws, id, { content: 'internal', private: true });
    assert.equal(note.status, null);
    await ws.request('PATCH', `/conversations/${id}`, { status: 'pending', labels: ['vip'] });
    await sendMessage(ws, id, { content: 'public' });
    await got(line, customer, ['public']);
  });

  test(`${type}: text as long as the channel takes goes out; one character more answers 422`, async () => {
    const { customer, id } = await meet(ws, line);
    const longest = '\u{1F98A}'.repeat(channelTypes[type].maxTextLength);
    await sendMessage(ws, id, { content: longest });
    await got(line, customer, [longest]);
    const over = { content: `${longest}x` };
    assertError(await ws.request('POST', `/conversations/${id}/messages`, over), 422, 'content');
  });

  test(`${type}: more attachments than the channel takes answer 422 and send nothing`, async () => {
    const { id } = await meet(ws, line);
    const attachment = { url: 'https://93.184.215.14/a.png', content_type: 'image/png', file_name: 'a.png' };
    const attachments = Array.from({ length: 11 }, () => attachment);
    const answer = await ws.request('POST', `/conversations/${id}/messages`, { attachments });
    assert.ok(answer.status === 422 || answer.status === 400, String(answer.status));
    assert.equal((await messagesOf(ws, id)).length, 1);
  });

  test(`${type}: a message whose worker died with it is sent by another once the lease has run out`, async () => {
    const other = await lines[type](idle, quiet);
    const { customer, id } = await meet(quiet, other);
    await sendMessage(quiet, id, { content: 'survives' });
    await idle.sql(
      `update outgoing_queue set claim_id = gen_random_uuid(), leased_until = now() + interval '1 s' where workspace_id = $1`,
      [quiet.uuid],
    );
    const worker = startDispatchWorker({ ...idle.ctx, metrics: createMetrics() });
    await got(other, customer, ['survives']);
    await eventually(async () => assert.deepEqual(await idle.sql('select from outgoing_queue'), []));
    await worker.stop();
  });

  const { turnAway } = line;
  if (!turnAway) continue;

  test(`${type}: what is turned away for now is sent later, and what was written after it comes after it`, async () => {
    const { customer, id } = await meet(ws, line);
    turnAway('for now', 2);
    for (const content of ['first', 'second', 'third']) await sendMessage(ws, id, { content });
    await got(line, customer, ['first', 'second', 'third']);
  });

  test(`${type}: what is turned away again and again fails with a reason that a person can read`, async () => {
    const { id } = await meet(ws, line);
    turnAway('for now', 4);
    const message = await sendMessage(ws, id, { content: 'never' });
    await eventually(async () => assert.equal((await statusOf(id, message)).status, 'failed'));
    assert.match((await statusOf(id, message)).error, /^[A-Z].*\w.*[.)]$/);
  });

  test(`${type}: what is turned away for good fails at once with its reason, and the next one goes`, async () => {
    const { customer, id } = await meet(ws, line);
    turnAway('for good', 1);
    const message = await sendMessage(ws, id, { content: 'refused' });
    await eventually(async () => assert.equal((await statusOf(id, message)).status, 'failed'));
    assert.match((await statusOf(id, message)).error, /^[A-Z].*\w.*[.)]$/);
    await sendMessage(ws, id, { content: 'next' });
    await got(line, customer, ['next']);
  });

  test(`${type}: one conversation that has to wait holds up no other`, async () => {
    const [stuck, free] = [await meet(ws, line), await meet(ws, line)];
    turnAway('for now', 1);
    await sendMessage(ws, stuck.id, { content: 'waits' });
    await sendMessage(ws, free.id, { content: 'goes' });
    await got(line, free.customer, ['goes']);
    await got(line, stuck.customer, ['waits']);
  });
}
