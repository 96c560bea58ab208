import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customer, graph, sendText, start, startHook } from './testing.ts';

test('the next sends fail as told, then succeed again', async (t) => {
  const emulator = await start(t);
  emulator.failNext({ code: 130429, times: 2, headers: { 'retry-after': '3' } });
  emulator.failNext({ code: 131016, httpStatus: 500, details: 'later' });
  const answers = [];
  for (let n = 0; n < 4; n += 1) answers.push(await sendText(emulator));
  assert.deepEqual(
    answers.map(({ status, json }) => [status, json.error?.code, json.error?.error_data.details]),
    [
      [429, 130429, 'Cloud API message throughput has been reached.'],
      [429, 130429, 'Cloud API message throughput has been reached.'],
      [500, 131016, 'later'],
      [200, undefined, undefined],
    ],
  );
  assert.equal(emulator.sent.length, 1);
});

test('another endpoint can be told to fail while sends go on', async (t) => {
  const emulator = await start(t);
  emulator.failNext({ code: 2, on: 'templates' });
  assert.equal((await sendText(emulator)).status, 200);
  const path = `${emulator.settings.businessAccountId}/message_templates`;
  assert.equal((await graph(emulator, 'GET', path)).status, 503);
  assert.equal((await graph(emulator, 'GET', path)).status, 200);
});

test('a dropped answer cuts the connection of an accepted message, whose statuses follow', async (t) => {
  const emulator = await start(t);
  const hook = await startHook(t);
  emulator.setWebhookUrl(hook.url);
  await emulator.customerSends({ from: customer, text: 'Hi' });
  emulator.dropAnswerNext();
  await assert.rejects(sendText(emulator, 'Hello', { biz_opaque_callback_data: 'msg_7' }), TypeError);
  assert.equal(emulator.sent.length, 1);
  await emulator.settled();
  assert.deepEqual(
    hook
      .values()
      .flatMap(({ statuses = [] }) =>
        statuses.map((one: Record<string, string>) => [one['status'], one['biz_opaque_callback_data']]),
      ),
    [
      ['sent', 'msg_7'],
      ['delivered', 'msg_7'],
    ],
  );
});

test('a hanging send is neither answered nor accepted', async (t) => {
  const emulator = await start(t);
  emulator.hangNext();
  const url = `${emulator.apiBaseUrl}/${emulator.settings.phoneNumberId}/messages`;
  const headers = { authorization: `Bearer ${emulator.settings.accessToken}` };
  const hanging = fetch(url, { method: 'POST', headers, signal: AbortSignal.timeout(150) });
  await assert.rejects(hanging, { name: 'TimeoutError' });
  assert.equal(emulator.sent.length, 0);
  assert.equal(emulator.requests[0]?.status, null);
});

test('the statuses of a delayed send come before its answer', async (t) => {
  const emulator = await start(t);
  const hook = await startHook(t);
  emulator.setWebhookUrl(hook.url);
  await emulator.customerSends({ from: customer, text: 'Hi' });
  emulator.delayNext(500);
  const answer = sendText(emulator);
  await emulator.waitForSent(1);
  await emulator.settled();
  assert.equal(emulator.requests[0]?.status, null);
  assert.equal(hook.received.length, 3);
  assert.equal((await answer).status, 200);
});

test('sends above the rate limit fail with 130429', async (t) => {
  const emulator = await start(t);
  emulator.rateLimit(2);
  const statuses = [];
  for (let n = 0; n < 3; n += 1) statuses.push((await sendText(emulator)).status);
  emulator.rateLimit(null);
  statuses.push((await sendText(emulator)).status);
  assert.deepEqual(statuses, [200, 200, 429, 200]);
});
