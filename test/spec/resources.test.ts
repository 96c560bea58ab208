import assert from 'node:assert/strict';
import test from 'node:test';
import {
  create,
  makeAgent,
  makeApiKey,
  makeChannel,
  makeContact,
  makeConversation,
  makeTeam,
  makeTemplate,
  makeWebhook,
  messagesOf,
  patchConversation,
  read,
  receive,
  sendMessage,
  webhookUrl,
} from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace({ name: 'Acme' });

test('a conversation in a list has exactly the documented fields', async () => {
  const contact = await makeContact(ws, { name: 'Ada', phone: '+4915112345678' });
  const channel = await makeChannel(ws, { name: 'Shop' });
  const agent = await makeAgent(ws, { name: 'Grace' });
  const made = await makeConversation(ws, {
    contact_id: contact.id,
    channel_id: channel.id,
    assignee_id: agent.id,
  });
  const { updated_at } = await patchConversation(ws, made.id, { labels: ['vip'], status: 'pending' });
  const [listed] = await read(ws, `/conversations?channel_id=${channel.id}`);
  assert.deepEqual(listed, {
    id: made.id,
    status: 'pending',
    channel: { id: channel.id, type: 'api', name: 'Shop' },
    contact: { id: contact.id, name: 'Ada', phone: '+4915112345678' },
    assignee: { id: agent.id, name: 'Grace' },
    labels: ['vip'],
    created_at: made.created_at,
    updated_at,
  });
});

test('a conversation without assignee, labels and phone shows null, [] and null', async () => {
  const { id } = await makeConversation(ws);
  const listed = (await read(ws, '/conversations?per_page=100')).find((one: { id: string }) => one.id === id);
  assert.equal(listed.assignee, null);
  assert.deepEqual(listed.labels, []);
  assert.equal(listed.contact.phone, null);
});

test('GET, POST and PATCH of one conversation show the list fields, team, snoozed_until and reply_window', async () => {
  const contact = await makeContact(ws, { name: 'Ada', phone: '+4915112345678' });
  const channel = await makeChannel(ws, { name: 'Shop' });
  const team = await makeTeam(ws, { name: 'Support' });
  const made = await makeConversation(ws, { contact_id: contact.id, channel_id: channel.id });
  const bare = {
    id: made.id,
    status: 'open',
    channel: { id: channel.id, type: 'api', name: 'Shop' },
    contact: { id: contact.id, name: 'Ada', phone: '+4915112345678' },
    assignee: null,
    labels: [],
    created_at: made.created_at,
    updated_at: made.created_at,
    team: null,
    snoozed_until: null,
    reply_window: { open: true, expires_at: null },
  };
  assert.deepEqual(made, bare);
  assert.deepEqual(await read(ws, `/conversations/${made.id}`), bare);
  const until = '2099-01-01T00:00:00.000Z';
  const changed = await patchConversation(ws, made.id, {
    status: 'snoozed',
    snoozed_until: until,
    team_id: team.id,
  });
  assert.deepEqual(changed, {
    ...bare,
    status: 'snoozed',
    team: { id: team.id, name: 'Support' },
    snoozed_until: until,
    updated_at: changed.updated_at,
  });
  assert.deepEqual(await read(ws, `/conversations/${made.id}`), changed);
});

test('an outgoing message has exactly the documented fields', async () => {
  const conversation = await makeConversation(ws);
  const message = await sendMessage(ws, conversation.id, { content: 'Hello' });
  const expected = {
    id: message.id,
    type: 'outgoing',
    content: 'Hello',
    sender: { type: 'bot', id: ws.keyId, name: 'Test key' },
    attachments: [],
    private: false,
    status: 'sent',
    error: null,
    created_at: message.created_at,
  };
  assert.deepEqual(message, expected);
  assert.deepEqual(await messagesOf(ws, conversation.id), [expected]);
});

test('an incoming message is of its contact and has its attachments, no status and no error', async () => {
  const channel = await makeChannel(ws);
  const attachments = [
    { url: 'https://cdn.example.com/a.png', content_type: 'image/png', file_name: 'a.png' },
  ];
  const { message, contact, conversation } = await receive(ws, channel.id, {
    from: { external_id: 'ada', name: 'Ada' },
    content: 'Look',
    attachments,
  });
  const expected = {
    id: message.id,
    type: 'incoming',
    content: 'Look',
    sender: { type: 'contact', id: contact.id, name: 'Ada' },
    attachments,
    private: false,
    status: null,
    error: null,
    created_at: message.created_at,
  };
  assert.deepEqual(message, expected);
  assert.deepEqual(await messagesOf(ws, conversation.id), [expected]);
});

test('an activity message has no status and tells who acted', async () => {
  const conversation = await makeConversation(ws);
  await patchConversation(ws, conversation.id, { status: 'resolved' });
  const [activity] = await messagesOf(ws, conversation.id);
  assert.deepEqual(activity, {
    id: activity.id,
    type: 'activity',
    content: activity.content,
    sender: { type: 'bot', id: ws.keyId, name: 'Test key' },
    attachments: [],
    private: false,
    status: null,
    error: null,
    created_at: activity.created_at,
  });
  assert.notEqual(activity.content, '');
});

test('a contact has exactly the documented fields', async () => {
  const given = {
    name: 'Ada Lovelace',
    phone: '+4915112345678',
    email: 'ada@example.com',
    company: 'Analytical Engines',
    tags: ['vip', 'london'],
    custom_attributes: { plan: 'gold', seats: 3 },
  };
  const contact = await makeContact(ws, given);
  assert.deepEqual(contact, { id: contact.id, ...given, created_at: contact.created_at });
  assert.deepEqual(await read(ws, `/contacts/${contact.id}`), contact);
  const put = await ws.request('PUT', `/contacts/${contact.id}`, { company: null });
  assert.deepEqual(put.body.data, { ...contact, company: null });
});

test('a contact with only a name shows null, [] and {} for the rest', async () => {
  const contact = await makeContact(ws, { name: 'Ada' });
  assert.deepEqual(contact, {
    id: contact.id,
    name: 'Ada',
    phone: null,
    email: null,
    company: null,
    tags: [],
    custom_attributes: {},
    created_at: contact.created_at,
  });
});

test('a webhook has exactly the documented fields, with its secret in the creation answer only', async () => {
  const { secret, ...webhook } = await makeWebhook(ws, { events: ['contact.created', 'message.created'] });
  assert.deepEqual(webhook, {
    id: webhook.id,
    url: webhookUrl,
    events: ['contact.created', 'message.created'],
    failing_since: null,
    created_at: webhook.created_at,
  });
  assert.equal(typeof secret, 'string');
  assert.deepEqual(await read(ws, `/webhooks/${webhook.id}`), webhook);
  assert.deepEqual(await read(ws, '/webhooks'), [webhook]);
});

test('a channel has type, name, settings, after_resolved and archived', async () => {
  const channel = await makeChannel(ws, { name: 'Shop' });
  const { id, created_at, settings, ...rest } = channel;
  assert.deepEqual(rest, { type: 'api', name: 'Shop', after_resolved: 'reopen', archived: false });
  assert.equal(typeof settings, 'object');
  assert.deepEqual(await read(ws, `/channels/${id}`), { id, created_at, settings, ...rest });
});

test('an agent has name, email, role and archived', async () => {
  const { id, created_at, ...rest } = await makeAgent(ws, {
    name: 'Lin',
    email: 'lin@example.com',
    role: 'admin',
  });
  assert.deepEqual(rest, { name: 'Lin', email: 'lin@example.com', role: 'admin', archived: false });
  assert.deepEqual(await read(ws, `/agents/${id}`), { id, created_at, ...rest });
});

test('a team has name and archived', async () => {
  const { id, created_at, ...rest } = await makeTeam(ws, { name: 'Sales' });
  assert.deepEqual(rest, { name: 'Sales', archived: false });
  assert.deepEqual(await read(ws, `/teams/${id}`), { id, created_at, ...rest });
});

test('a template has name, language, body, status, channel_id, category and archived', async () => {
  const fields = { name: 'hi', language: 'de', body: 'Hallo {{1}}', status: 'approved' };
  const { id, created_at, ...rest } = await makeTemplate(ws, fields);
  assert.deepEqual(rest, { ...fields, channel_id: null, category: null, archived: false });
  assert.deepEqual(await read(ws, `/templates/${id}`), { id, created_at, ...rest });
});

test('a label has name, color and archived', async () => {
  const { id, created_at, ...rest } = await create(ws, '/labels', { name: 'urgent', color: '#ff0000' });
  assert.deepEqual(rest, { name: 'urgent', color: '#ff0000', archived: false });
  assert.deepEqual(await read(ws, `/labels/${id}`), { id, created_at, ...rest });
});

test('a custom attribute has key, type, label and archived', async () => {
  const fields = { key: 'birthday', type: 'date', label: 'Birthday' };
  const { id, created_at, ...rest } = await create(ws, '/custom_attributes', fields);
  assert.deepEqual(rest, { ...fields, archived: false });
  assert.deepEqual(await read(ws, `/custom_attributes/${id}`), { id, created_at, ...rest });
});

test('an API key has name, scopes, agent_id, expires_at, last_used_at and revoked, and key once', async () => {
  const agent = await makeAgent(ws);
  const { id, created_at, key, ...rest } = await makeApiKey(ws, {
    name: 'Reports',
    scopes: ['contacts:read'],
    agent_id: agent.id,
    expires_at: '2099-01-01T00:00:00.000Z',
  });
  assert.deepEqual(rest, {
    name: 'Reports',
    scopes: ['contacts:read'],
    agent_id: agent.id,
    expires_at: '2099-01-01T00:00:00.000Z',
    last_used_at: null,
    revoked: false,
  });
  assert.equal(typeof key, 'string');
  assert.deepEqual(await read(ws, `/api_keys/${id}`), { id, created_at, ...rest });
});

test('GET /workspace shows the workspace of the key', async () => {
  const workspace = await read(ws, '/workspace');
  const { created_at } = workspace;
  assert.deepEqual(workspace, { id: ws.id, name: 'Acme', plan: 'business', created_at });
});
