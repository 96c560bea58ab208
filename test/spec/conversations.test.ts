import assert from 'node:assert/strict';
import test from 'node:test';
import { toId } from '../../server/ids.ts';
import {
  assertError,
  create,
  eventsDuring,
  makeAgent,
  makeChannel,
  makeContact,
  makeConversation,
  makeTeam,
  makeTemplate,
  messagesOf,
  read,
} from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const contact = await makeContact(ws);
const channel = await makeChannel(ws);
const agent = await makeAgent(ws);
const base = { contact_id: contact.id, channel_id: channel.id };
const uuid = '01999999-9999-7999-8999-999999999999';

const post = (body: unknown) => ws.request('POST', '/conversations', body);

test('GET /conversations/{id} returns one conversation', async () => {
  const made = await makeConversation(ws);
  assert.deepEqual(await read(ws, `/conversations/${made.id}`), made);
});

test('GET /conversations/{id} of none answers 404 and names the conversation', async () => {
  const answer = await ws.request('GET', `/conversations/${toId('conversation', uuid)}`);
  assert.equal(assertError(answer, 404).message, 'Conversation not found');
});

test('POST /conversations creates an open conversation of that contact on that channel', async () => {
  const made = await create(ws, '/conversations', base);
  assert.equal(made.status, 'open');
  assert.equal(made.contact.id, contact.id);
  assert.equal(made.channel.id, channel.id);
  assert.equal(made.assignee, null);
});

test('POST /conversations always creates one, also beside an open one of the same contact and channel', async () => {
  const first = await create(ws, '/conversations', base);
  const second = await create(ws, '/conversations', base);
  assert.notEqual(first.id, second.id);
});

for (const field of ['contact_id', 'channel_id']) {
  test(`POST /conversations without ${field} answers 400`, async () => {
    assertError(await post({ ...base, [field]: undefined }), 400, field);
  });
  test(`POST /conversations with ${field} null answers 400`, async () => {
    assertError(await post({ ...base, [field]: null }), 400, field);
  });
  test(`POST /conversations with a ${field} that is no string answers 400`, async () => {
    assertError(await post({ ...base, [field]: 7 }), 400, field);
  });
}

const references: [field: string, value: string][] = [
  ['contact_id', toId('contact', uuid)],
  ['contact_id', 'nonsense'],
  ['contact_id', channel.id],
  ['channel_id', toId('channel', uuid)],
  ['channel_id', 'nonsense'],
  ['assignee_id', toId('agent', uuid)],
  ['assignee_id', 'nonsense'],
  ['assignee_id', ''],
];

for (const [field, value] of references) {
  test(`POST /conversations with ${field} "${value.slice(0, 8)}" that names nothing answers 422 and creates nothing`, async () => {
    const events = await eventsDuring(service, ws, async () => {
      assertError(await post({ ...base, [field]: value }), 422, field);
    });
    assert.deepEqual(events, []);
  });
}

test('POST /conversations with assignee_id assigns the agent at once', async () => {
  const { assignee } = await create(ws, '/conversations', { ...base, assignee_id: agent.id });
  assert.deepEqual(assignee, { id: agent.id, name: agent.name });
});

test('POST /conversations with assignee_id null leaves it unassigned', async () => {
  assert.equal((await create(ws, '/conversations', { ...base, assignee_id: null })).assignee, null);
});

test('POST /conversations with an archived channel or agent answers 422', async () => {
  const oldChannel = await makeChannel(ws);
  const oldAgent = await makeAgent(ws);
  await ws.request('DELETE', `/channels/${oldChannel.id}`);
  await ws.request('DELETE', `/agents/${oldAgent.id}`);
  assertError(await post({ ...base, channel_id: oldChannel.id }), 422, 'channel_id');
  assertError(await post({ ...base, assignee_id: oldAgent.id }), 422, 'assignee_id');
});

test('POST /conversations without a message creates a thread without messages', async () => {
  const { id } = await create(ws, '/conversations', base);
  assert.deepEqual(await messagesOf(ws, id), []);
});

test('POST /conversations with message.content sends that text as the first message', async () => {
  const { id } = await create(ws, '/conversations', { ...base, message: { content: 'Hello' } });
  const [first, ...others] = await messagesOf(ws, id);
  assert.deepEqual(others, []);
  assert.equal(first.type, 'outgoing');
  assert.equal(first.content, 'Hello');
});

test('POST /conversations with message.template_id and template_variables sends the rendered template', async () => {
  const template = await makeTemplate(ws, { body: 'Hello {{name}}, {{1}}' });
  const message = { template_id: template.id, template_variables: { name: 'Ada', 1: 'bye' } };
  const { id } = await create(ws, '/conversations', { ...base, message });
  assert.equal((await messagesOf(ws, id))[0].content, 'Hello Ada, bye');
});

test('POST /conversations answers updated_at after its first message', async () => {
  const made = await create(ws, '/conversations', { ...base, message: { content: 'Hello' } });
  assert.deepEqual(await read(ws, `/conversations/${made.id}`), made);
});

const badMessages: [why: string, message: unknown, status: number, field: string][] = [
  ['with content and template_id together', { content: 'Hi', template_id: 'tpl_x' }, 422, 'message.content'],
  ['with neither content nor template_id', {}, 400, 'message.content'],
  ['that is a string', 'Hello', 400, 'message'],
  ['that is null', null, 400, 'message'],
  ['with content that is no string', { content: 5 }, 400, 'message.content'],
  ['with blank content', { content: ' \n' }, 422, 'message.content'],
  ['with content too long', { content: 'x'.repeat(10_001) }, 422, 'message.content'],
  ['with a template that does not exist', { template_id: 'tpl_x' }, 422, 'message.template_id'],
];

for (const [why, message, status, field] of badMessages) {
  test(`POST /conversations with a message ${why} answers ${status} and creates nothing`, async () => {
    const lonely = await makeContact(ws);
    const events = await eventsDuring(service, ws, async () => {
      assertError(await post({ ...base, contact_id: lonely.id, message }), status, field);
    });
    assert.deepEqual(events, []);
    assert.deepEqual(await read(ws, `/conversations?contact_id=${lonely.id}`), []);
  });
}

test('conversations cannot be deleted: DELETE answers 404', async () => {
  const { id } = await makeConversation(ws);
  assertError(await ws.request('DELETE', `/conversations/${id}`), 404);
  assert.equal((await read(ws, `/conversations/${id}`)).id, id);
});

test('a channel, agent and team in use are archived, not torn out of the conversation', async () => {
  const [ch, usr, team] = [await makeChannel(ws), await makeAgent(ws), await makeTeam(ws)];
  const made = await makeConversation(ws, { channel_id: ch.id, assignee_id: usr.id });
  await ws.request('PATCH', `/conversations/${made.id}`, { team_id: team.id });
  for (const path of [`/channels/${ch.id}`, `/agents/${usr.id}`, `/teams/${team.id}`]) {
    assert.equal((await ws.request('DELETE', path)).status, 200);
  }
  const after = await read(ws, `/conversations/${made.id}`);
  assert.equal(after.channel.id, ch.id);
  assert.equal(after.assignee.id, usr.id);
  assert.equal(after.team.id, team.id);
});
