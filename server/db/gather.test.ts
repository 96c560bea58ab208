import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gather } from './gather.ts';

test('when the database has not answered for long, those who waited for their turn fail along, not one after the other', async () => {
  const asked: number[][] = [];
  const ask = gather(
    async (keys: number[]): Promise<undefined[]> => {
      asked.push(keys);
      await sleep(1_100);
      throw new Error('no answer');
    },
    () => 'one lane',
  );
  const answers = await Promise.allSettled([ask(1), ask(2), ask(3)]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  assert.deepEqual(asked, [[1]]);
});

test('a quick failure is that of its own turn: the next is asked all the same', async () => {
  const ask = gather(
    async ([key]: number[]) => {
      if (key === 1) throw new Error('refused');
      return [key];
    },
    () => 'one lane',
  );
  const [first, second] = await Promise.allSettled([ask(1), ask(2)]);
  assert.equal(first.status, 'rejected');
  assert.deepEqual(second, { status: 'fulfilled', value: 2 });
});
