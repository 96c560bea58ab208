import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Emulator } from './emulator.ts';
import { customer, type Json, readJson, sendText, start } from './testing.ts';

async function act(emulator: Emulator, action: string, input: unknown = {}) {
  const response = await fetch(`${emulator.url}/_emulator/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  return { status: response.status, json: await readJson(response) };
}

async function stateOf(emulator: Emulator): Promise<Json> {
  return readJson(await fetch(`${emulator.url}/_emulator/state`));
}

test('the page and what it loads come from the emulator, under a policy that allows nothing else', async (t) => {
  const emulator = await start(t);
  const page = await fetch(emulator.url);
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  const html = await page.text();
  const loaded = [...html.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, path]) => path);
  assert.equal(loaded.length, 2);
  for (const path of loaded) assert.equal((await fetch(`${emulator.url}${path}`)).status, 200);
});

test('what a person does on the page is a message, a file, a status and a fault', async (t) => {
  const emulator = await start(t);
  const image = { base64: Buffer.from('pixels').toString('base64'), mime: 'image/png', caption: 'Look' };
  await act(emulator, 'customer_messages', { from: customer, name: 'Ada', text: 'Hi' });
  await act(emulator, 'customer_messages', { from: customer, name: 'Ada', image });
  const { json } = await sendText(emulator, 'Hello');
  await emulator.settled();
  await act(emulator, 'read', { id: json.messages[0].id });
  await act(emulator, 'fail_next', { code: 131026, times: 2 });
  await act(emulator, 'template', { name: 'hello_world', language: 'en_US', status: 'PAUSED' });

  const state = await stateOf(emulator);
  assert.deepEqual(
    state.messages.map(({ mine, text, status }: Json) => [mine, text, status]),
    [
      [true, 'Hi', 'delivered'],
      [true, 'Look', 'delivered'],
      [false, 'Hello', 'read'],
    ],
  );
  const shown = await fetch(`${emulator.url}/_emulator/media/${state.messages[1].file.id}`);
  assert.equal(await shown.text(), 'pixels');
  assert.match(shown.headers.get('content-security-policy') ?? '', /sandbox/);
  assert.deepEqual([state.faults[0].times, state.faults[0].fault.failure.code], [2, 131026]);
  assert.equal(state.templates[0].status, 'PAUSED');
});

test("an action's mistake is told, and a form of another site is refused", async (t) => {
  const emulator = await start(t);
  assert.equal((await act(emulator, 'read', { id: 'wamid.unknown' })).status, 400);
  assert.equal((await act(emulator, 'webhook_url', { url: 'nowhere' })).status, 400);
  assert.equal((await act(emulator, 'nothing')).status, 404);
  const form = await fetch(`${emulator.url}/_emulator/drop_answer_next`, { method: 'POST', body: '{}' });
  assert.equal(form.status, 415);
  assert.deepEqual((await stateOf(emulator)).faults, []);
});

test('the events stream shows a change without asking', async (t) => {
  const emulator = await start(t);
  const aborting = new AbortController();
  const { body } = await fetch(`${emulator.url}/_emulator/events`, { signal: aborting.signal });
  assert.ok(body);
  let text = '';
  void emulator.customerSends({ from: customer, name: 'Ada', text: 'over the stream' });
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes('over the stream')) break;
  }
  aborting.abort();
  assert.match(text, /^data: \{/);
});
