import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import fc from 'fast-check';
import { startService } from '../../test/harness.ts';
import { digitsOf } from './search.ts';

const service = await startService();

test('the service and the database find the same digits in any text', async () => {
  const text = fc.string({
    unit: fc.constantFrom('0', '1', '7', '9', 'a', '+', ' ', '٣', '\u001f'),
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(text, async (search) => {
      const workspaceId = randomUUID();
      const [row] = await service.sql<{ digits: number[] }>('select contact_digits($1, $2) as digits', [
        workspaceId,
        search,
      ]);
      assert.deepEqual(new Set(digitsOf(workspaceId, search)), new Set(row!.digits));
    }),
    { numRuns: 50 },
  );
});
