import assert from 'node:assert/strict';
import test from 'node:test';
import { killed, recorded, startWorker, subscribed } from '../../../test/workers.ts';
import { eventually } from '../../../test/receiver.ts';

const schedule = [5, 30, 120, 600, 1800];

test('the whole schedule in real time: six attempts, each after its wait and never early', async () => {
  const { workspace, receiver } = await subscribed();
  receiver.answer((_received, response) => void response.writeHead(503).end());
  const worker = await startWorker();
  await workspace.request('POST', '/contacts', { name: 'Ada' });
  await receiver.waitFor(6, 2_700_000);
  const waits = receiver.received.slice(1).map(({ at }, index) => (at - receiver.received[index]!.at) / 1000);
  console.log(`waits: ${waits.map((wait) => wait.toFixed(2)).join(', ')} s`);
  for (const [index, seconds] of schedule.entries()) {
    assert.ok(waits[index]! >= seconds && waits[index]! < seconds + 2, `${waits[index]} s for ${seconds} s`);
  }
  await eventually(async () => assert.equal((await recorded(workspace))[0]?.state, 'failed'));
  await killed(worker);
});
