import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../test/harness.ts';
import { keepsSettingsPromises } from '../../test/settings.ts';

const service = await startService();

keepsSettingsPromises(service, {
  kind: 'agent',
  path: '/agents',
  table: 'agents',
  noun: 'Agent',
  textField: 'name',
  body: (n) => ({ name: `Agent ${n}` }),
  change: { email: 'ada@example.com', role: 'admin' },
});

test('an agent has no e-mail address and the role agent unless told', async () => {
  const ws = await service.workspace();
  const { body } = await ws.request('POST', '/agents', { name: 'Ada' });
  assert.equal(body.data.email, null);
  assert.equal(body.data.role, 'agent');
});

test('a null email unsets it, on creation and later', async () => {
  const ws = await service.workspace();
  const made = await ws.request('POST', '/agents', { name: 'Ada', email: null });
  assert.equal(made.status, 201);
  const path = `/agents/${made.body.data.id}`;
  assert.equal(
    (await ws.request('PATCH', path, { email: 'ada@example.com' })).body.data.email,
    'ada@example.com',
  );
  assert.equal((await ws.request('PATCH', path, { name: 'Ada L' })).body.data.email, 'ada@example.com');
  assert.equal((await ws.request('PATCH', path, { email: null })).body.data.email, null);
});

test('a malformed e-mail address is 422, a role that does not exist 400', async () => {
  const ws = await service.workspace();
  const email = await ws.request('POST', '/agents', { name: 'Ada', email: 'not an address' });
  assert.equal(email.status, 422);
  assert.equal(email.body.error.details[0].field, 'email');
  assert.equal((await ws.request('POST', '/agents', { name: 'Ada', role: 'owner' })).status, 400);
});

test('two agents cannot share an e-mail address, whatever its case', async () => {
  const ws = await service.workspace();
  await ws.request('POST', '/agents', { name: 'Ada', email: 'ada@example.com' });
  const same = await ws.request('POST', '/agents', { name: 'Another', email: 'ADA@Example.com' });
  assert.equal(same.status, 422);
  assert.deepEqual(
    { ...same.body.error.details[0], message: '' },
    { field: 'email', rule: 'unique', message: '' },
  );
  const other = await ws.request('POST', '/agents', { name: 'Grace', email: 'grace@example.com' });
  const renamed = await ws.request('PATCH', `/agents/${other.body.data.id}`, { email: 'Ada@example.com' });
  assert.equal(renamed.status, 422);
});

test('another workspace may have an agent with the same e-mail address', async () => {
  const body = { name: 'Ada', email: 'ada@example.com' };
  for (const ws of [await service.workspace(), await service.workspace()]) {
    assert.equal((await ws.request('POST', '/agents', body)).status, 201);
  }
});

test('of many requests at once for one e-mail address exactly one gets it, and no other fails with 500', async () => {
  const ws = await service.workspace();
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      ws.request('POST', '/agents', { name: `Ada ${n}`, email: 'ada@example.com' }),
    ),
  );
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [201, ...Array.from({ length: 7 }, () => 422)]);
});

test('archiving an agent frees its e-mail address, and it cannot come back while another has it', async () => {
  const ws = await service.workspace();
  const first = await ws.request('POST', '/agents', { name: 'Ada', email: 'ada@example.com' });
  const path = `/agents/${first.body.data.id}`;
  await ws.request('DELETE', path);
  const second = await ws.request('POST', '/agents', { name: 'New Ada', email: 'ada@example.com' });
  assert.equal(second.status, 201);
  const back = await ws.request('PATCH', path, { archived: false });
  assert.equal(back.status, 422);
  assert.equal(back.body.error.details[0].field, 'email');
  assert.equal((await ws.request('PATCH', path, { archived: false, email: null })).status, 200);
});
