import assert from 'node:assert/strict';
import test from 'node:test';
import { type Kind, toId } from '../../server/ids.ts';
import {
  assertError,
  collectRoutes,
  create,
  type Data,
  eventually,
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
import { type Answer, startService, type Workspace } from '../harness.ts';
import { conversationWith, emulatorEnv, makeWhatsapp } from '../whatsapp.ts';

type Ids = Record<
  | 'conversation'
  | 'contact'
  | 'channel'
  | 'agent'
  | 'team'
  | 'template'
  | 'label'
  | 'customAttribute'
  | 'key'
  | 'webhook'
  | 'delivery'
  | 'media',
  string
>;
type Named = keyof Ids & Kind;

interface Operation {
  /** What the id in the path names. */
  path?: Named;
  /** What the ids in the query name. */
  query?: Record<string, Named>;
  /** A body that is right, given ids that are. */
  body?: (ids: Ids) => Data;
  /** Where in the body ids stand, and what they name. */
  ids?: Record<string, Named>;
  /** What our own id answers, where it is refused for another reason. */
  own?: number;
}

const settings = (
  path: string,
  kind: Named,
  make: () => object,
  change: object,
): Record<string, Operation> => ({
  [`GET ${path}`]: {},
  [`POST ${path}`]: { body: make },
  [`GET ${path}/:id`]: { path: kind },
  [`PATCH ${path}/:id`]: { path: kind, body: () => change },
  [`DELETE ${path}/:id`]: { path: kind },
});

/** Every route of the interface, and every id it takes. A route that is not here fails this suite. */
const operations: Record<string, Operation> = {
  'GET /conversations': {
    query: { channel_id: 'channel', assignee_id: 'agent', contact_id: 'contact', team_id: 'team' },
  },
  'POST /conversations': {
    body: (ids) => ({
      contact_id: ids.contact,
      channel_id: ids.channel,
      assignee_id: ids.agent,
      message: { template_id: ids.template, template_variables: { name: 'Ada' } },
    }),
    ids: {
      contact_id: 'contact',
      channel_id: 'channel',
      assignee_id: 'agent',
      'message.template_id': 'template',
    },
  },
  'GET /conversations/:id': { path: 'conversation' },
  'PATCH /conversations/:id': {
    path: 'conversation',
    body: (ids) => ({ status: 'pending', assignee_id: ids.agent, team_id: ids.team, labels: ['own'] }),
    ids: { assignee_id: 'agent', team_id: 'team' },
  },
  'GET /conversations/:conversation_id/messages': { path: 'conversation' },
  'POST /conversations/:conversation_id/messages': {
    path: 'conversation',
    body: (ids) => ({ template_id: ids.template, template_variables: { name: 'Ada' } }),
    ids: { template_id: 'template' },
  },
  'POST /channels/:id/inbound': {
    path: 'channel',
    body: () => ({ from: { external_id: 'visitor', phone: '+4915112345678' }, content: 'Hi' }),
  },
  'POST /channels/:id/sync_templates': { path: 'channel', own: 422 }, // one of type api has none to fetch
  'GET /media/:id': { path: 'media' },
  'GET /contacts': {},
  'POST /contacts': { body: () => ({ name: 'Ada' }) },
  'GET /contacts/:id': { path: 'contact' },
  'PUT /contacts/:id': { path: 'contact', body: () => ({ name: 'Changed', tags: ['changed'] }) },
  ...settings('/webhooks', 'webhook', () => ({ url: webhookUrl, events: ['message.created'] }), {
    events: ['contact.created'],
  }),
  'POST /webhooks/:id/test': { path: 'webhook', body: () => ({}) },
  'POST /webhooks/:id/rotate_secret': { path: 'webhook' },
  'POST /webhooks/:id/recover': { path: 'webhook', body: () => ({ since: '2026-01-01T00:00:00Z' }) },
  'GET /webhooks/:id/deliveries': { path: 'webhook' },
  'GET /deliveries/:id': { path: 'delivery' },
  'POST /deliveries/:id/redeliver': { path: 'delivery', own: 422 }, // it has not ended yet
  'GET /workspace': {},
  ...settings('/channels', 'channel', () => ({ type: 'api', name: 'New' }), { name: 'Changed' }),
  ...settings('/agents', 'agent', () => ({ name: 'New' }), { name: 'Changed' }),
  ...settings('/teams', 'team', () => ({ name: 'New' }), { name: 'Changed' }),
  ...settings('/templates', 'template', () => ({}), {}),
  'POST /templates': {
    body: (ids) => ({ name: 'new', body: 'New', channel_id: ids.channel }),
    ids: { channel_id: 'channel' },
  },
  'PATCH /templates/:id': {
    path: 'template',
    body: (ids) => ({ body: 'Changed', channel_id: ids.channel }),
    ids: { channel_id: 'channel' },
  },
  ...settings('/labels', 'label', () => ({ name: 'new' }), { color: '#00ff00' }),
  ...settings('/custom_attributes', 'customAttribute', () => ({ key: 'new', type: 'string' }), {
    label: 'Changed',
  }),
  ...settings('/api_keys', 'key', () => ({}), {}),
  'POST /api_keys': { body: (ids) => ({ name: 'New', agent_id: ids.agent }), ids: { agent_id: 'agent' } },
  'PATCH /api_keys/:id': { path: 'key', body: () => ({ name: 'Changed' }), ids: { agent_id: 'agent' } },
};

const routes = collectRoutes();
const service = await startService({ env: emulatorEnv });
const ours = await service.workspace();
const theirs = await service.workspace();

/** One of everything, found by words that only this workspace uses. */
async function furnish(ws: Workspace, word: string): Promise<Ids> {
  const contact = await makeContact(ws, { name: word, phone: '+4915112345678', tags: [word] });
  const channel = await makeChannel(ws, { name: word });
  const agent = await makeAgent(ws, { name: word });
  const team = await makeTeam(ws, { name: word });
  const template = await makeTemplate(ws, { name: word, body: 'Hello {{name}}' });
  const label = await create(ws, '/labels', { name: word });
  const attribute = await create(ws, '/custom_attributes', { key: word, type: 'number' });
  const conversation = await makeConversation(ws, {
    contact_id: contact.id,
    channel_id: channel.id,
    assignee_id: agent.id,
  });
  await patchConversation(ws, conversation.id, { labels: [word], team_id: team.id });
  await sendMessage(ws, conversation.id, { content: word });
  await receive(ws, channel.id, { from: { external_id: 'visitor', phone: '+4915112345678' }, content: word });
  const { emulator } = await makeWhatsapp(service, ws);
  const image = { bytes: Buffer.from(word), mime: 'image/png' };
  await emulator.customerSends({ from: '4915112345679', name: word, image });
  const [photo] = await messagesOf(ws, (await conversationWith(ws, '+4915112345679')).id);
  const key = await makeApiKey(ws, { name: word });
  const webhook = await makeWebhook(ws);
  const delivery = await create(ws, `/webhooks/${webhook.id}/test`, {});
  return {
    conversation: conversation.id,
    contact: contact.id,
    channel: channel.id,
    agent: agent.id,
    team: team.id,
    template: template.id,
    label: label.id,
    customAttribute: attribute.id,
    key: key.id,
    webhook: webhook.id,
    delivery: delivery.id,
    media: photo.attachments[0].url.split('/').at(-1),
  };
}

const mine = await furnish(ours, 'ourword');
const foreign = await furnish(theirs, 'theirword');
for (const ws of [ours, theirs]) {
  await eventually(
    5_000,
    () => read(ws, `/api_keys/${ws.keyId}`),
    ({ last_used_at }) => last_used_at !== null,
  );
}

/** Every row of a workspace in every table that has workspaces. */
async function snapshot(ws: Workspace): Promise<string> {
  const tables = await service.sql<{ name: string }>(
    `select c.table_name as name from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and c.column_name = 'workspace_id' and t.table_type = 'BASE TABLE' order by 1`,
  );
  const parts = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await service.sql<{ row: string }>(
        `select to_jsonb(t)::text as row from "${name}" t where workspace_id = $1 order by 1`,
        [ws.uuid],
      );
      return [name, ...rows.map(({ row }) => row)].join('\n');
    }),
  );
  return parts.join('\n\n');
}

const before = { ours: await snapshot(ours), theirs: await snapshot(theirs) };

async function assertNothingChanged() {
  assert.equal(await snapshot(theirs), before.theirs);
  assert.equal(await snapshot(ours), before.ours);
}

/** A foreign id first; then what it must not be told from. */
const candidates = (kind: Named): string[] => [
  foreign[kind],
  toId(kind, '01999999-9999-7999-8999-999999999999'),
  'nonsense',
  mine[kind].slice(0, -1),
  mine[kind === 'contact' ? 'conversation' : 'contact'],
  'x'.repeat(300),
];

function send(operation: string, { id, query = '', body }: { id?: string; query?: string; body?: unknown }) {
  const [method = '', path = ''] = operation.split(' ');
  const url = path.replace(/:\w+/, id ?? '');
  const headers = { 'x-request-id': 'the-same-for-all' };
  return ours.request(method, `${url}${query}`, body, { headers });
}

function assertAlike(answers: Answer[], status: number) {
  for (const answer of answers) {
    assertError(answer, status);
    assert.equal(answer.text, answers[0]!.text);
  }
}

function withIdAt(body: Data, place: string, id: string): Data {
  const [head = '', ...rest] = place.split('.');
  return { ...body, [head]: rest.length === 0 ? id : withIdAt(body[head], rest.join('.'), id) };
}

test('every route of the interface is listed here, and no other is', () => {
  const served = routes
    .filter(({ method, path, isPublic }) => path.startsWith('/v1') && method !== 'OPTIONS' && !isPublic)
    .map(({ method, path }) => `${method} ${path.slice('/v1'.length)}`);
  assert.deepEqual(served.toSorted(), Object.keys(operations).toSorted());
});

for (const [operation, { path, query = {}, body, ids = {} }] of Object.entries(operations)) {
  if (path !== undefined) {
    test(`${operation}: a foreign id in the path answers like a missing and a malformed one, and changes nothing`, async () => {
      const answers: Answer[] = [];
      for (const id of candidates(path)) answers.push(await send(operation, { id, body: body?.(mine) }));
      assertAlike(answers, 404);
      await assertNothingChanged();
    });
  }
  for (const [place, kind] of Object.entries(ids)) {
    test(`${operation}: a foreign ${place} in the body answers 422 like a missing and a malformed one, and changes nothing`, async () => {
      const answers: Answer[] = [];
      for (const id of candidates(kind)) {
        const sent = withIdAt(body!(mine), place, id);
        answers.push(await send(operation, { ...(path && { id: mine[path] }), body: sent }));
      }
      assertAlike(answers, 422);
      await assertNothingChanged();
    });
  }
  for (const [name, kind] of Object.entries(query)) {
    test(`${operation}: a foreign ${name} in the query answers an empty list like a missing and a malformed one`, async () => {
      for (const id of candidates(kind)) {
        const { status, body } = await send(operation, { query: `?${name}=${id}` });
        assert.equal(status, 200);
        assert.deepEqual([body.data, body.meta.total], [[], 0]);
      }
    });
  }
  if (path === undefined && operation.startsWith('GET')) {
    test(`${operation} shows nothing of another workspace`, async () => {
      const { status, text } = await send(operation, { query: '?per_page=100&archived=true' });
      assert.equal(status, 200);
      for (const secret of [...Object.values(foreign), 'theirword', theirs.id])
        assert.equal(text.includes(secret), false);
    });
  }
}

test('their words find nothing: q, tag and label', async () => {
  for (const query of [
    '/contacts?q=theirword',
    '/contacts?tag=theirword',
    '/conversations?label=theirword',
  ]) {
    const { body } = await ours.request('GET', query);
    assert.deepEqual([body.data, body.meta.total], [[], 0]);
  }
});

test('the same requests with our own ids succeed, so it is the foreign id that was refused', async () => {
  const deletesLast = Object.entries(operations).toSorted(
    ([a], [b]) => Number(a.startsWith('DELETE')) - Number(b.startsWith('DELETE')),
  );
  for (const [operation, { path, body, own }] of deletesLast) {
    const answer = await send(operation, { ...(path && { id: mine[path] }), body: body?.(mine) });
    assert.ok((own ? [own] : [200, 201]).includes(answer.status), `${operation} ${answer.text}`);
  }
});

test('a label, a tag, an attribute and a customer of the same name are another workspace’s own', async () => {
  const shared = await makeContact(ours, {
    tags: ['theirword'],
    custom_attributes: { theirword: 'no number here' },
  });
  await ours.request('PUT', `/contacts/${shared.id}`, { custom_attributes: { theirword: 'still none' } });
  const channel = await makeChannel(ours);
  const { conversation } = await receive(ours, channel.id, {
    from: { external_id: 'visitor', phone: '+4915112345678' },
  });
  await patchConversation(ours, conversation.id, { labels: ['theirword'] });
  assert.notEqual(conversation.contact.id, foreign.contact);
});

test('after all of this not one row of the other workspace has changed', async () => {
  assert.equal(await snapshot(theirs), before.theirs);
});
