import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { captureExamples } from '../../../test/examples/capture.ts';
import { startReceiver } from '../../../test/examples/receiver.ts';
import { startService } from '../../../test/harness.ts';
import { assertMatchesRequest, assertMatchesSchema, document } from '../../../test/openapi.ts';
import type { EventType } from '../../events/names.ts';
import { samples } from '../../events/samples.ts';
import { startDeliveryWorker } from '../../webhooks/delivery/worker.ts';
import { type Examples, examplesFile } from './examples.ts';
import { operationsOf } from './types.ts';

// One retry, at once: an example of a failed delivery need not take the usual 43 minutes.
const service = await startService({
  env: { INBOX_WEBHOOK_RETRY_SECONDS: '0.01', INBOX_PUBLIC_URL: 'https://inbox.example.com' },
});
service.ctx.egress = await startReceiver(service.ctx.config);
const worker = startDeliveryWorker(service.ctx);
const captured = await captureExamples(service, await service.workspace({ name: 'Acme' }), () =>
  worker.stop(),
);
// Set by `npm run examples`.
if (process.env['UPDATE_EXAMPLES']) await writeFile(examplesFile, `${JSON.stringify(captured, null, 2)}\n`);
const committed = JSON.parse(await readFile(examplesFile, 'utf8')) as Examples;

test('every example is what the service answers (else run: npm run examples)', () => {
  for (const [place, example] of captured.operations.entries()) {
    assert.deepEqual(example, committed.operations[place], `${example.operationId}: ${example.title}`);
  }
  assert.deepEqual(captured, committed);
});

test('every operation with a key has an example of its success', () => {
  const shown = committed.operations
    .filter(({ answer }) => answer.status < 300)
    .map(({ operationId }) => operationId);
  const wanted = operationsOf(document)
    .filter(({ operation }) => operation.security?.length)
    .map(({ operation }) => operation.operationId);
  assert.deepEqual(new Set(shown), new Set(wanted));
});

test('every example answer, error and event is as its schema says', () => {
  for (const { operationId, request, answer } of [
    ...committed.operations,
    ...Object.values(committed.errors),
  ]) {
    if (answer.body !== undefined) assertMatchesSchema(operationId, answer.status, answer.body);
    if (request.body !== undefined && answer.status < 300) assertMatchesRequest(operationId, request.body);
  }
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    const event = committed.events[type as EventType];
    assertMatchesRequest(post.operationId, event);
    assertMatchesRequest(post.operationId, { ...event, data: samples[type as EventType], test: true });
  }
});
