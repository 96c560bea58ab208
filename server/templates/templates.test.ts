import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService, type Workspace } from '../../test/harness.ts';
import { keepsSettingsPromises } from '../../test/settings.ts';
import { newUuid, toId } from '../ids.ts';

const service = await startService();

keepsSettingsPromises(service, {
  kind: 'template',
  path: '/templates',
  table: 'templates',
  noun: 'Template',
  textField: 'name',
  body: (n) => ({ name: `Template ${n}`, body: 'Hello {{name}}' }),
  change: { body: 'Good day {{name}}', language: 'pt_BR', status: 'rejected' },
});

const channelOf = async (ws: Workspace, type: string) =>
  (await ws.request('POST', '/channels', { type, name: type })).body.data.id;
const post = (ws: Workspace, fields: object) =>
  ws.request('POST', '/templates', { name: 'T', body: 'Hello', ...fields });
/** What the platform's own message will do. */
const verdict = (id: string, status: string) =>
  service.sql('update templates set status = $2 where id = $1', [id, status]);
const uuidOf = async (ws: Workspace) =>
  (await service.sql<{ id: string }>('select id from templates where workspace_id = $1', [ws.uuid]))[0]!.id;

test('a template is English, approved and for every channel unless told', async () => {
  const ws = await service.workspace();
  const { language, status, channel_id } = (await post(ws, {})).body.data;
  assert.deepEqual(
    { language, status, channel_id },
    { language: 'en', status: 'approved', channel_id: null },
  );
});

test('a body is required (400), not blank and at most 10,000 characters (422)', async () => {
  const ws = await service.workspace();
  assert.equal((await ws.request('POST', '/templates', { name: 'T' })).status, 400);
  assert.equal((await post(ws, { body: 5 })).status, 400);
  for (const body of ['', ' \n ', 'x'.repeat(10_001)]) {
    const answer = await post(ws, { body });
    assert.equal(answer.status, 422);
    assert.equal(answer.body.error.details[0].field, 'body');
  }
  assert.equal((await post(ws, { body: '🙂'.repeat(10_000) })).status, 201);
});

test('a language that is no code is 422, a status that does not exist 400', async () => {
  const ws = await service.workspace();
  for (const language of ['', 'english please', 'e', 'en_'])
    assert.equal((await post(ws, { language })).status, 422);
  for (const language of ['en', 'en_US', 'zh-Hans-CN', 'fil'])
    assert.equal((await post(ws, { language })).status, 201);
  assert.equal((await post(ws, { status: 'accepted' })).status, 400);
});

test('channel_id must be a live channel of this workspace, else 422', async () => {
  const [ws, other] = await Promise.all([service.workspace(), service.workspace()]);
  const archived = await channelOf(ws, 'api');
  await ws.request('DELETE', `/channels/${archived}`);
  const { id } = (await post(ws, {})).body.data;
  for (const channel_id of [
    await channelOf(other, 'api'),
    archived,
    'ch_nonsense',
    toId('channel', newUuid()),
  ]) {
    for (const answer of [
      await post(ws, { channel_id }),
      await ws.request('PATCH', `/templates/${id}`, { channel_id }),
    ]) {
      assert.equal(answer.status, 422);
      assert.equal(answer.body.error.details[0].field, 'channel_id');
    }
  }
  const mine = await channelOf(ws, 'api');
  assert.equal(
    (await ws.request('PATCH', `/templates/${id}`, { channel_id: mine })).body.data.channel_id,
    mine,
  );
  assert.equal(
    (await ws.request('PATCH', `/templates/${id}`, { channel_id: null })).body.data.channel_id,
    null,
  );
});

test('a template of a channel archived later can still be edited', async () => {
  const ws = await service.workspace();
  const channel_id = await channelOf(ws, 'api');
  const { id } = (await post(ws, { channel_id })).body.data;
  await ws.request('DELETE', `/channels/${channel_id}`);
  const answer = await ws.request('PATCH', `/templates/${id}`, { channel_id, name: 'Renamed' });
  assert.equal(answer.status, 200);
  assert.equal(answer.body.data.name, 'Renamed');
});

test('where no platform approves, the status may be set', async () => {
  const ws = await service.workspace();
  const channel_id = await channelOf(ws, 'api');
  const made = await post(ws, { channel_id, status: 'pending' });
  assert.equal(made.body.data.status, 'pending');
  const path = `/templates/${made.body.data.id}`;
  assert.equal((await ws.request('PATCH', path, { status: 'approved' })).body.data.status, 'approved');
  assert.equal((await ws.request('PATCH', path, { body: 'Changed' })).body.data.status, 'approved');
});

test('on a channel whose platform approves, a template starts pending and its status cannot be set', async () => {
  const ws = await service.workspace();
  const channel_id = await channelOf(ws, 'whatsapp');
  const refused = await post(ws, { channel_id, status: 'approved' });
  assert.equal(refused.status, 422);
  assert.match(refused.body.error.message, /platform decides/);
  const made = await post(ws, { channel_id });
  assert.equal(made.body.data.status, 'pending');
  const path = `/templates/${made.body.data.id}`;
  const set = await ws.request('PATCH', path, { status: 'approved' });
  assert.equal(set.status, 422);
  assert.equal(set.body.error.details[0].field, 'status');
  assert.equal(
    (await ws.request('PATCH', path, { status: 'pending' })).status,
    200,
    'what was read can be sent back',
  );
});

test('an approved template that is edited waits for its platform again; one that is not stays approved', async () => {
  const ws = await service.workspace();
  const made = (await post(ws, { channel_id: await channelOf(ws, 'whatsapp') })).body.data;
  const path = `/templates/${made.id}`;
  await verdict(await uuidOf(ws), 'approved');
  const same = await ws.request('PATCH', path, { ...made, status: 'approved' });
  assert.equal(same.body.data.status, 'approved');
  await ws.request('DELETE', path);
  assert.equal((await ws.request('PATCH', path, { archived: false })).body.data.status, 'approved');
  const edited = await ws.request('PATCH', path, { ...made, status: 'approved', body: 'Buy now' });
  assert.equal(edited.status, 200);
  assert.equal(edited.body.data.status, 'pending');
});

test('a template that moves to a platform is pending there, and approved when it leaves', async () => {
  const ws = await service.workspace();
  const path = `/templates/${(await post(ws, {})).body.data.id}`;
  const channel_id = await channelOf(ws, 'whatsapp');
  assert.equal((await ws.request('PATCH', path, { channel_id })).body.data.status, 'pending');
  await verdict(await uuidOf(ws), 'rejected');
  assert.equal((await ws.request('PATCH', path, { channel_id: null })).body.data.status, 'approved');
  await ws.request('PATCH', path, { channel_id });
  const leaving = await ws.request('PATCH', path, { channel_id: null, status: 'pending' });
  assert.equal(leaving.body.data.status, 'pending');
});
