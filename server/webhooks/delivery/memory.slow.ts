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
  await silent.waitFor(1_000, 120_000); // warm: every lane has timed out and been throttled
  const before = residentMb(worker.pid);
  await silent.waitFor(3_000, 300_000);
  const after = residentMb(worker.pid);
  console.log(`${before} MB, then ${after} MB`);
  assert.ok(after <= before * 1.2, `${before} MB became ${after} MB`);
  await killed(worker);
});
