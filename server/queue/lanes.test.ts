import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { createLanes, type Outcome } from './lanes.ts';

const slots = 40;

function takeAll(lanes: ReturnType<typeof createLanes>, name: string): number {
  const room = lanes.room(name);
  lanes.take(name, room);
  return room;
}

test('a new lane begins small and grows by one with each success up to a quarter of the slots', () => {
  const lanes = createLanes(slots);
  assert.equal(lanes.room('a'), 4);
  for (let i = 0; i < 100; i++) {
    lanes.take('a', 1);
    lanes.release('a', 'success');
  }
  assert.equal(lanes.room('a'), 10);
});

test('a lane that times out is halved down to one', () => {
  const lanes = createLanes(slots);
  for (const expected of [2, 1, 1]) {
    lanes.take('a', 1);
    lanes.release('a', 'timeout');
    assert.equal(lanes.room('a'), expected);
  }
  assert.deepEqual([...lanes.throttled()], [['a', 1]]);
});

test('what was learnt of a lane is forgotten when it has had nothing for ten minutes, and not while it is in flight', () => {
  let now = 0;
  const lanes = createLanes(slots, () => now);
  for (const name of ['deleted', 'busy']) {
    lanes.take(name, 2);
    lanes.release(name, 'timeout');
  }
  lanes.giveBack('deleted', 1);
  assert.deepEqual([...lanes.throttled().keys()], ['deleted', 'busy']);
  now += 600_001;
  assert.deepEqual([...lanes.throttled().keys()], ['busy']);
  assert.equal(lanes.room('deleted'), 4);
});

test('any number of lanes that do not answer leave half of the slots to those that do', () => {
  const lanes = createLanes(slots);
  lanes.take('good', 1);
  lanes.release('good', 'success');
  let held = 0;
  for (let i = 0; i < 100; i++) held += takeAll(lanes, `dead ${i}`);
  assert.equal(held, slots / 2);
  assert.ok(lanes.room('good') > 0);
});

test('slots given back unused are free again and say nothing about the lane', () => {
  const lanes = createLanes(slots);
  lanes.take('a', 4);
  lanes.giveBack('a', 4);
  assert.equal(lanes.room('a'), 4);
  assert.equal(lanes.inFlight(), 0);
});

test('in any order of events no lane passes a quarter, all together never the slots, and nothing leaks', () => {
  const outcome = fc.constantFrom<Outcome>('success', 'failure', 'timeout');
  const step = fc.record({
    lane: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    take: fc.boolean(),
    outcome,
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const lanes = createLanes(slots);
      const held = new Map<string, number>();
      for (const { lane, take, outcome } of steps) {
        const now = held.get(lane) ?? 0;
        if (take) held.set(lane, now + takeAll(lanes, lane));
        else if (now > 0) {
          lanes.release(lane, outcome);
          held.set(lane, now - 1);
        }
        const total = [...held.values()].reduce((sum, n) => sum + n, 0);
        assert.equal(lanes.inFlight(), total);
        assert.ok(total <= slots);
        assert.ok([...held.values()].every((n) => n <= slots / 4));
      }
      for (const [lane, n] of held) for (let i = 0; i < n; i++) lanes.release(lane, 'success');
      assert.equal(lanes.inFlight(), 0);
      assert.ok(lanes.room('a') > 0);
    }),
  );
});
