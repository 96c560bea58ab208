import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { eventually, startReceiver } from '../../../test/receiver.ts';
import { emitMany, killed, service, startWorker, subscribed, waiting } from '../../../test/workers.ts';

/** Resident memory of a process, in MB. */
function residentMb(pid: number): number {
  const [, kb] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Math.round(Number(kb) / 1024);
}

test('memory stays flat over 100,000 deliveries, within 20 % of what it was after the first 20,000', async () => {
  const { workspace, receiver } = await subscribed();
  const worker = await startWorker();
  const readings: number[] = [];
  for (let i = 0; i < 5; i++) {
    await emitMany(workspace, 20_000);
    await eventually(async () => assert.equal(await waiting(workspace), 0), 300_000);
    readings.push(residentMb(worker.pid));
    receiver.received.length = 0;
  }
  console.log(`after each 20,000 deliveries: ${readings.join(', ')} MB`);
  assert.ok(Math.max(...readings) <= readings[0]! * 1.2, `${readings.join(', ')} MB`);
  await killed(worker);
});

test('memory stays flat with 100 receivers that never answer', async () => {
  const worker = await startWorker({ INBOX_WEBHOOK_TIMEOUT_SECONDS: '2' });
  const silent = await startReceiver();
  silent.answer(() => {});
  for (let i = 0; i < 100; i++) {
    const workspace = await service.workspace();
    await workspace.request('POST', '/webhooks', { url: silent.url(`/${i}`), events: ['contact.created'] });
    await emitMany(workspace, 50);
  }
  const readings: number[] = [];
  for (const count of [1_000, 2_000, 3_000, 4_000, 5_000]) {
    await silent.waitFor(count, 300_000);
    readings.push(residentMb(worker.pid));
  }
  console.log(`after each 1,000 attempts: ${readings.join(', ')} MB`);
  // The first reading is before the heap has found its size: every lane has just timed out and been throttled.
  assert.ok(Math.max(...readings) <= readings[1]! * 1.2, `${readings.join(', ')} MB`);
  await killed(worker);
});
