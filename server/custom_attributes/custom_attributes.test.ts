import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../test/harness.ts';
import { keepsSettingsPromises } from '../../test/settings.ts';

const service = await startService();

keepsSettingsPromises(service, {
  kind: 'customAttribute',
  path: '/custom_attributes',
  table: 'custom_attributes',
  noun: 'Custom attribute',
  textField: 'key',
  body: (n) => ({ key: `key_${n}`, type: 'string' }),
  change: { label: 'Shown', type: 'number' },
});

test('a custom attribute is shown under its trimmed key unless it has a label', async () => {
  const ws = await service.workspace();
  const plain = await ws.request('POST', '/custom_attributes', { key: ' tier ', type: 'string' });
  assert.deepEqual([plain.body.data.key, plain.body.data.label], ['tier', 'tier']);
  const named = await ws.request('POST', '/custom_attributes', {
    key: 'size',
    type: 'number',
    label: 'Company size',
  });
  assert.deepEqual([named.body.data.key, named.body.data.label], ['size', 'Company size']);
});

test('a type is required and one of four, else 400', async () => {
  const ws = await service.workspace();
  for (const type of [undefined, 'text', 5, null]) {
    assert.equal((await ws.request('POST', '/custom_attributes', { key: 'tier', type })).status, 400);
  }
  for (const type of ['string', 'number', 'boolean', 'date']) {
    assert.equal((await ws.request('POST', '/custom_attributes', { key: `a ${type}`, type })).status, 201);
  }
});

test('two live custom attributes cannot share a key; archiving frees it', async () => {
  const ws = await service.workspace();
  const body = { key: 'tier', type: 'string' };
  const first = await ws.request('POST', '/custom_attributes', body);
  const same = await ws.request('POST', '/custom_attributes', body);
  assert.equal(same.status, 422);
  assert.equal(same.body.error.details[0].rule, 'unique');
  const path = `/custom_attributes/${first.body.data.id}`;
  await ws.request('DELETE', path);
  assert.equal((await ws.request('POST', '/custom_attributes', body)).status, 201);
  assert.equal((await ws.request('PATCH', path, { archived: false })).status, 422);
});

test('the key of a custom attribute cannot change, and trying leaves everything as it was', async () => {
  const ws = await service.workspace();
  const made = await ws.request('POST', '/custom_attributes', { key: 'tier', type: 'string' });
  const path = `/custom_attributes/${made.body.data.id}`;
  const answer = await ws.request('PATCH', path, { key: 'level', label: 'Level' });
  assert.equal(answer.status, 422);
  assert.equal(answer.body.error.details[0].field, 'key');
  assert.deepEqual((await ws.request('GET', path)).body, made.body);
});

test('a defined type holds for contacts written from then on', async () => {
  const ws = await service.workspace();
  const contact = { name: 'Ada', custom_attributes: { tier: 'gold' } };
  assert.equal((await ws.request('POST', '/contacts', contact)).status, 201);
  const made = await ws.request('POST', '/custom_attributes', { key: 'tier', type: 'number' });
  assert.equal((await ws.request('POST', '/contacts', contact)).status, 422);
  await ws.request('PATCH', `/custom_attributes/${made.body.data.id}`, { type: 'string' });
  assert.equal((await ws.request('POST', '/contacts', contact)).status, 201);
});
