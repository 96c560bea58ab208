import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../test/receiver.ts';
import {
  emitMany,
  killed,
  recorded,
  service,
  startWorker,
  subscribed,
  waiting,
} from '../../../test/workers.ts';

const seconds = 60;
const slots = 400;

test('kill -9 of a random worker every second for a minute: nothing is lost, and no more doubled than was in flight', async () => {
  const { workspace, receiver } = await subscribed();
  // Four, because a replacement needs longer than a second to start and the killing does not wait for it.
  const alive = await Promise.all(Array.from({ length: 4 }, () => startWorker()));
  const replacements: Promise<unknown>[] = [];
  let written = 0;
  let kills = 0;
  const end = performance.now() + seconds * 1000;
  const writing = (async () => {
    while (performance.now() < end) {
      await emitMany(workspace, 50);
      written += 50;
      await sleep(100);
    }
  })();
  while (performance.now() < end) {
    await sleep(1_000);
    const [victim] = alive.splice(Math.floor(Math.random() * alive.length), 1);
    if (!victim) continue;
    await killed(victim);
    kills += 1;
    replacements.push(startWorker().then((worker) => alive.push(worker)));
  }
  await Promise.all([writing, ...replacements]);
  assert.ok(kills > seconds * 0.8, `only ${kills} kills`);
  await eventually(async () => assert.equal(await waiting(workspace), 0), 90_000);

  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  assert.equal(new Set(ids).size, written, 'every event arrived');
  const doubled = ids.length - written;
  assert.ok(doubled <= kills * slots, `${doubled} doubled by ${kills} kills`);
  const byEvent = Map.groupBy(receiver.received, ({ headers }) => headers['webhook-id']);
  for (const copies of byEvent.values()) {
    assert.equal(new Set(copies.map(({ body }) => body)).size, 1);
    assert.equal(new Set(copies.map(({ headers }) => headers['x-service-delivery'])).size, 1);
  }
  const records = await recorded(workspace);
  assert.equal(records.length, written);
  assert.ok(records.every(({ state, attempts, rows }) => state === 'delivered' && attempts === rows));
  console.log(`${written} events, ${kills} kills, ${doubled} doubled`);
  await Promise.all(alive.map(killed));
  assert.ok((await service.sql('select from delivery_queue')).length === 0);
});
