import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../test/harness.ts';

const service = await startService();

test('GET /workspace answers the workspace of the key', async () => {
  const ws = await service.workspace({ name: 'Acme', plan: 'pro' });
  await service.workspace({ name: 'Another' });
  const { status, body } = await ws.request('GET', '/workspace');
  assert.equal(status, 200);
  assert.match(body.data.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(body, {
    data: { id: ws.id, name: 'Acme', plan: 'pro', created_at: body.data.created_at },
  });
});

test('GET /workspace needs settings:read', async () => {
  const ws = await service.workspace();
  const key = await ws.makeKey({ scopes: ['settings:write'] });
  assert.equal((await ws.request('GET', '/workspace', undefined, { key })).status, 403);
});
