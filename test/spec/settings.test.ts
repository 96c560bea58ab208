import assert from 'node:assert/strict';
import test from 'node:test';
import { toId } from '../../server/ids.ts';
import {
  assertError,
  create,
  type Data,
  makeAgent,
  makeApiKey,
  makeChannel,
  makeContact,
  makeConversation,
  makeTeam,
  makeTemplate,
  read,
} from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
let made = 0;

/** How to make one of each resource that can be archived, and one change to it. */
const resources: [path: string, body: () => object, change: object][] = [
  ['/channels', () => ({ type: 'api', name: 'Shop' }), { name: 'Changed' }],
  ['/agents', () => ({ name: 'Grace' }), { name: 'Changed' }],
  ['/teams', () => ({ name: 'Support' }), { name: 'Changed' }],
  ['/templates', () => ({ name: 'hi', body: 'Hi' }), { body: 'Changed' }],
  ['/labels', () => ({ name: `label ${made++}` }), { color: '#00ff00' }],
  ['/custom_attributes', () => ({ key: `key ${made++}`, type: 'string' }), { label: 'Changed' }],
];

const ids = (list: Data[]) => list.map(({ id }) => id);

for (const [path, body, change] of resources) {
  test(`${path}: what was created is read and listed, newest first`, async () => {
    const [one, two] = [await create(ws, path, body()), await create(ws, path, body())];
    assert.deepEqual(await read(ws, `${path}/${one.id}`), one);
    assert.deepEqual(ids(await read(ws, path)).slice(0, 2), [two.id, one.id]);
  });

  test(`${path}: PATCH changes only what it names`, async () => {
    const before = await create(ws, path, body());
    const answer = await ws.request('PATCH', `${path}/${before.id}`, change);
    assert.deepEqual(answer.body, { data: { ...before, ...change } });
    assert.deepEqual(await read(ws, `${path}/${before.id}`), { ...before, ...change });
  });

  test(`${path}: DELETE archives: still readable, absent from the list unless archived=true`, async () => {
    const { id, ...rest } = await create(ws, path, body());
    const totalBefore = (await ws.request('GET', path)).body.meta.total;
    assert.equal((await ws.request('DELETE', `${path}/${id}`)).status, 200);
    assert.deepEqual(await read(ws, `${path}/${id}`), { id, ...rest, archived: true });
    const { body: list } = await ws.request('GET', `${path}?per_page=100`);
    assert.equal(ids(list.data).includes(id), false);
    assert.equal(list.meta.total, totalBefore - 1);
    assert.ok(ids(await read(ws, `${path}?archived=true&per_page=100`)).includes(id));
  });

  test(`${path}: DELETE twice answers 200 twice`, async () => {
    const { id } = await create(ws, path, body());
    for (let n = 0; n < 2; n++) assert.equal((await ws.request('DELETE', `${path}/${id}`)).status, 200);
  });

  test(`${path}: an empty body, a wrong type and a missing one answer 400, 400 and 404`, async () => {
    assertError(await ws.request('POST', path, {}), 400);
    const { id } = await create(ws, path, body());
    const [field = ''] = Object.keys(change);
    assertError(await ws.request('PATCH', `${path}/${id}`, { [field]: 5 }), 400, field);
    for (const [method, sent] of [['GET'], ['PATCH', change], ['DELETE']] as [string, object?][]) {
      assertError(await ws.request(method, `${path}/nonsense`, sent), 404);
    }
  });
}

test('what is archived is refused in new references with 422', async () => {
  const [channel, agent, team, template] = [
    await makeChannel(ws),
    await makeAgent(ws),
    await makeTeam(ws),
    await makeTemplate(ws, { body: 'Hi' }),
  ];
  const conversation = await makeConversation(ws);
  const contact = await makeContact(ws);
  for (const path of [
    `/channels/${channel.id}`,
    `/agents/${agent.id}`,
    `/teams/${team.id}`,
    `/templates/${template.id}`,
  ]) {
    await ws.request('DELETE', path);
  }
  const patch = (body: object) => ws.request('PATCH', `/conversations/${conversation.id}`, body);
  const outbound = { contact_id: contact.id, channel_id: channel.id };
  assertError(await ws.request('POST', '/conversations', outbound), 422, 'channel_id');
  assertError(await patch({ assignee_id: agent.id }), 422, 'assignee_id');
  assertError(await patch({ team_id: team.id }), 422, 'team_id');
  const messages = `/conversations/${conversation.id}/messages`;
  assertError(await ws.request('POST', messages, { template_id: template.id }), 422, 'template_id');
  assertError(await ws.request('POST', '/api_keys', { name: 'x', agent_id: agent.id }), 422, 'agent_id');
  const bound = { name: 'x', body: 'x', channel_id: channel.id };
  assertError(await ws.request('POST', '/templates', bound), 422, 'channel_id');
});

test('a template or a key that refers to nothing answers 422', async () => {
  const missing = '01999999-9999-7999-8999-999999999999';
  const template = { name: 'x', body: 'x', channel_id: toId('channel', missing) };
  assertError(await ws.request('POST', '/templates', template), 422, 'channel_id');
  const key = { name: 'x', agent_id: toId('agent', missing) };
  assertError(await ws.request('POST', '/api_keys', key), 422, 'agent_id');
});

test('the secrets of a channel are written, never shown, and not stored in the clear', async () => {
  const secrets = {
    access_token: 'canary-token',
    app_secret: 'canary-secret',
    verify_token: 'canary-verify',
  };
  const answer = await ws.request('POST', '/channels', {
    type: 'whatsapp',
    name: 'WhatsApp',
    settings: { phone_number_id: '123', ...secrets },
  });
  assert.equal(answer.status, 201);
  assert.equal(answer.body.data.settings.phone_number_id, '123');
  const { id } = answer.body.data;
  const texts = [
    answer.text,
    (await ws.request('GET', `/channels/${id}`)).text,
    (await ws.request('GET', '/channels?per_page=100')).text,
    (await ws.request('PATCH', `/channels/${id}`, { name: 'Other' })).text,
  ];
  const rows = await service.sql<{ row: string }>(`select to_jsonb(c)::text as row from channels c`);
  texts.push(...rows.map(({ row }) => row));
  for (const text of texts) {
    for (const secret of Object.values(secrets)) {
      assert.equal(text.includes(secret), false);
      assert.equal(text.includes(Buffer.from(secret).toString('hex')), false);
    }
  }
});

test('a channel type, an agent role, an after_resolved and an attribute type outside their enums answer 400', async () => {
  assertError(await ws.request('POST', '/channels', { type: 'fax', name: 'x' }), 400, 'type');
  const channel = { type: 'api', name: 'x', after_resolved: 'x' };
  assertError(await ws.request('POST', '/channels', channel), 400, 'after_resolved');
  assertError(await ws.request('POST', '/agents', { name: 'x', role: 'owner' }), 400, 'role');
  assertError(await ws.request('POST', '/custom_attributes', { key: 'x', type: 'x' }), 400, 'type');
});

test('the three channel types are api, whatsapp and webchat', async () => {
  for (const type of ['api', 'whatsapp', 'webchat'])
    assert.equal((await makeChannel(ws, { type })).type, type);
});

test('a template is approved, pending or rejected as set, on channels without an approving platform', async () => {
  for (const status of ['approved', 'pending', 'rejected']) {
    assert.equal((await makeTemplate(ws, { status })).status, status);
  }
  const { id } = await makeTemplate(ws, { status: 'pending' });
  const { body } = await ws.request('PATCH', `/templates/${id}`, { status: 'approved' });
  assert.equal(body.data.status, 'approved');
});

test('API keys are listed, renamed and revoked; DELETE answers revoked true', async () => {
  const { id } = await makeApiKey(ws, { name: 'Before' });
  assert.equal((await ws.request('PATCH', `/api_keys/${id}`, { name: 'After' })).body.data.name, 'After');
  assert.ok(ids(await read(ws, '/api_keys')).includes(id));
  assert.deepEqual((await ws.request('DELETE', `/api_keys/${id}`)).body, { data: { id, revoked: true } });
});
