import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../test/harness.ts';
import { keepsSettingsPromises } from '../../test/settings.ts';

const service = await startService();

keepsSettingsPromises(service, {
  kind: 'label',
  path: '/labels',
  table: 'labels',
  noun: 'Label',
  textField: 'name',
  body: (n) => ({ name: `label ${n}` }),
  change: { color: '#00ff00' },
});

test('a label has a colour of its own when none is given', async () => {
  const ws = await service.workspace();
  const { body } = await ws.request('POST', '/labels', { name: 'vip' });
  assert.match(body.data.color, /^#[0-9a-f]{6}$/);
});

test('a colour is # and six hexadecimal digits, else 422', async () => {
  const ws = await service.workspace();
  for (const color of ['red', '#fff', '#12345g', '#1234567', 'x#123456', '#123456\n', '']) {
    const answer = await ws.request('POST', '/labels', { name: 'vip', color });
    assert.equal(answer.status, 422, JSON.stringify(color));
    assert.equal(answer.body.error.details[0].field, 'color');
  }
  assert.equal((await ws.request('POST', '/labels', { name: 'vip', color: null })).status, 400);
  const made = await ws.request('POST', '/labels', { name: 'vip', color: '#AbCdEf' });
  assert.equal(made.body.data.color, '#AbCdEf');
});

test('label names are trimmed, and two labels cannot share one', async () => {
  const ws = await service.workspace();
  const first = await ws.request('POST', '/labels', { name: '  vip\t' });
  assert.equal(first.body.data.name, 'vip');
  const same = await ws.request('POST', '/labels', { name: 'vip ' });
  assert.equal(same.status, 422);
  assert.equal(same.body.error.details[0].rule, 'unique');
  const other = await ws.request('POST', '/labels', { name: 'urgent' });
  assert.equal((await ws.request('PATCH', `/labels/${other.body.data.id}`, { name: ' vip' })).status, 422);
  assert.equal(
    (await ws.request('PATCH', `/labels/${other.body.data.id}`, { name: ' VIP ' })).body.data.name,
    'VIP',
  );
});

test('an archived label keeps its name: history goes on showing it', async () => {
  const ws = await service.workspace();
  const first = await ws.request('POST', '/labels', { name: 'vip' });
  await ws.request('DELETE', `/labels/${first.body.data.id}`);
  const same = await ws.request('POST', '/labels', { name: 'vip' });
  assert.equal(same.status, 422);
  assert.match(same.body.error.message, /archived/);
});

test('of many requests at once for one label name exactly one gets it, and no other fails with 500', async () => {
  const ws = await service.workspace();
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => ws.request('POST', '/labels', { name: 'vip' })),
  );
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [201, ...Array.from({ length: 7 }, () => 422)]);
});
