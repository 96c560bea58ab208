import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cliOn } from '../../test/cli.ts';
import { createDatabase } from '../../test/harness.ts';
import { listMigrations } from '../db/migrate.ts';

test('migrate brings an empty database to this version and then has nothing to do', async () => {
  const cli = cliOn(await createDatabase({ empty: true }));
  const known = (await listMigrations()).map(({ version, name }) => ({ version, name }));
  const first = await cli('migrate', '--json');
  assert.equal(first.code, 0, first.stderr);
  assert.deepEqual(first.json, { version: known.at(-1)!.version, applied: known });
  const second = await cli('migrate', '--json');
  assert.equal(second.code, 0);
  assert.deepEqual(second.json, { version: known.at(-1)!.version, applied: [] });
});
