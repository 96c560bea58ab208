import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import '../server/process/serve.ts';
import { statements } from '../server/db/client.ts';
import { atEnd, createDatabase } from './harness.ts';

const client = new pg.Client({ connectionString: await createDatabase() });
await client.connect();
atEnd(() => client.end());

test('every statement of the service prepares on the migrated schema', async () => {
  for (const { name, text } of statements) {
    await client.query(`prepare "${name}" as ${text}`).catch((error: Error) => {
      assert.fail(`${name}: ${error.message}`);
    });
  }
  assert.ok(statements.length > 80, 'the list of statements is not empty by accident');
});

test('no two statements share a name', () => {
  const names = statements.map(({ name }) => name);
  assert.deepEqual(names.toSorted(), [...new Set(names)].toSorted());
});
