import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inbox } from '../../test/cli.ts';
import { startService } from '../../test/harness.ts';

test('openapi prints the document the service serves, without a database', async () => {
  const { code, json } = await inbox(['openapi'], {});
  assert.equal(code, 0);
  const service = await startService();
  const { body } = await service.request('GET', '/openapi.json');
  assert.deepEqual(json, body);
});

test('openapi --json is the same on one line', async () => {
  const { stdout, json } = await inbox(['openapi', '--json'], {});
  assert.equal(stdout.trim().split('\n').length, 1);
  assert.match(json.openapi, /^3\./);
});
