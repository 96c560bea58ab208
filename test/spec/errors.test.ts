import assert from 'node:assert/strict';
import test from 'node:test';
import { toId } from '../../server/ids.ts';
import {
  assertError,
  codes,
  type Data,
  makeChannel,
  makeContact,
  makeConversation,
  makeTemplate,
  sendRaw,
} from '../factory.ts';
import { type Answer, type RequestOptions, startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const contact = await makeContact(ws);
const channel = await makeChannel(ws);
const conversation = await makeConversation(ws, { contact_id: contact.id, channel_id: channel.id });
const pending = await makeTemplate(ws, { status: 'pending', body: 'Hi' });

const post = (path: string, body: unknown, options?: RequestOptions) =>
  ws.request('POST', path, body, options);
const raw = (text: string, headers: Record<string, string> = {}) =>
  post('/contacts', undefined, { raw: text, headers });

test('an error has code, message and status, and request_id', async () => {
  const answer = await ws.request('GET', '/contacts/nonsense');
  assert.deepEqual(answer.body, {
    error: {
      code: 'not_found',
      message: 'Contact not found',
      status: 404,
      request_id: answer.headers.get('x-request-id'),
    },
  });
});

test('an error of a body has details: field, rule and message of each mistake', async () => {
  const { details } = assertError(await post('/contacts', { name: 5, phone: [], tags: 'x' }), 400);
  assert.deepEqual(details.map(({ field }: Data) => field).toSorted(), ['name', 'phone', 'tags']);
  for (const detail of details) {
    assert.deepEqual(Object.keys(detail), ['field', 'rule', 'message']);
    for (const text of Object.values(detail)) assert.equal(typeof text, 'string');
  }
});

test('a body that breaks the shape in one field and a rule in another answers 400', async () => {
  assertError(await post('/contacts', { name: 5, phone: 'x' }), 400);
});

const statuses: [status: number, why: string, ask: () => Promise<Answer>][] = [
  [400, 'a required field is missing', () => post('/contacts', {})],
  [401, 'the key is missing', () => service.request('GET', '/contacts')],
  [
    403,
    'the key lacks permission',
    async () =>
      ws.request('GET', '/contacts', undefined, { key: await ws.makeKey({ scopes: ['webhooks:read'] }) }),
  ],
  [404, 'the resource does not exist', () => ws.request('GET', '/conversations/conv_none')],
  [422, 'the data failed validation', () => post('/contacts', { name: 'Ada', phone: '12345' })],
];

for (const [status, why, ask] of statuses) {
  test(`${status} ${codes[status]} when ${why}`, async () => {
    assertError(await ask(), status);
  });
}

const table: [promise: string, status: number, ask: () => Promise<Answer>][] = [
  ['unreadable JSON', 400, () => raw('{"name":')],
  ['JSON with a trailing comma', 400, () => raw('{"name":"Ada",}')],
  ['an empty body', 400, () => raw('')],
  ['a body that is a string', 400, () => post('/contacts', 'Ada')],
  ['a body that is an array', 400, () => post('/contacts', [{ name: 'Ada' }])],
  ['a body that is null', 400, () => post('/contacts', null)],
  ['a body without Content-Type', 400, () => raw('{"name":"Ada"}', { 'content-type': '' })],
  ['a body of another Content-Type', 400, () => raw('{"name":"Ada"}', { 'content-type': 'text/plain' })],
  [
    'a body in another charset',
    400,
    () => raw('{"name":"Ada"}', { 'content-type': 'application/json; charset=latin1' }),
  ],
  ['a missing required field', 400, () => post('/conversations', { contact_id: contact.id })],
  ['a wrong JSON type', 400, () => post('/contacts', { name: 5 })],
  [
    'a number where a string belongs, which is not coerced',
    400,
    () => post('/contacts', { name: 'A', company: 5 }),
  ],
  [
    'a string where an array belongs, which is not wrapped',
    400,
    () => post('/contacts', { name: 'A', tags: 'x' }),
  ],
  [
    'a value outside an enum',
    400,
    () => ws.request('PATCH', `/conversations/${conversation.id}`, { status: 'x' }),
  ],
  ['a query value outside an enum', 400, () => ws.request('GET', '/conversations?status=x')],
  ['a channel type outside the enum', 400, () => post('/channels', { type: 'fax', name: 'Fax' })],
  ['page that is no integer', 400, () => ws.request('GET', '/contacts?page=one')],
  ['per_page above 100, which is not clamped', 400, () => ws.request('GET', '/contacts?per_page=101')],
  ['a phone that is not E.164', 422, () => post('/contacts', { name: 'Ada', phone: '0151' })],
  ['a malformed e-mail', 422, () => post('/contacts', { name: 'Ada', email: 'ada' })],
  [
    'a webhook event outside the six',
    422,
    () => post('/webhooks', { url: 'https://93.184.215.14', events: ['x'] }),
  ],
  [
    'a webhook URL without HTTPS',
    422,
    () => post('/webhooks', { url: 'http://x.org', events: ['contact.created'] }),
  ],
  [
    'a contact that does not exist',
    422,
    () => post('/conversations', { contact_id: 'ct_x', channel_id: channel.id }),
  ],
  [
    'a channel that does not exist',
    422,
    () => post('/conversations', { contact_id: contact.id, channel_id: 'x' }),
  ],
  [
    'an agent that does not exist',
    422,
    () => ws.request('PATCH', `/conversations/${conversation.id}`, { assignee_id: 'x' }),
  ],
  [
    'a team that does not exist',
    422,
    () => ws.request('PATCH', `/conversations/${conversation.id}`, { team_id: 'x' }),
  ],
  [
    'a template that does not exist',
    422,
    () => post(`/conversations/${conversation.id}/messages`, { template_id: 'x' }),
  ],
  [
    'a template not approved',
    422,
    () => post(`/conversations/${conversation.id}/messages`, { template_id: pending.id }),
  ],
  [
    'text that is empty after trimming',
    422,
    () => post(`/conversations/${conversation.id}/messages`, { content: ' ' }),
  ],
  [
    'text that is too long',
    422,
    () => post(`/conversations/${conversation.id}/messages`, { content: 'x'.repeat(10_001) }),
  ],
];

for (const [promise, status, ask] of table) {
  test(`${promise} answers ${status}`, async () => {
    assertError(await ask(), status);
  });
}

const resources: [path: string, resource: string][] = [
  ['/conversations/', 'Conversation'],
  ['/contacts/', 'Contact'],
  ['/webhooks/', 'Webhook'],
  ['/channels/', 'Channel'],
  ['/agents/', 'Agent'],
  ['/teams/', 'Team'],
  ['/templates/', 'Template'],
  ['/labels/', 'Label'],
  ['/custom_attributes/', 'Custom attribute'],
  ['/api_keys/', 'API key'],
];

for (const [path, resource] of resources) {
  test(`a 404 of ${path} names the resource: ${resource} not found`, async () => {
    const { message } = assertError(await ws.request('GET', `${path}nonsense`), 404);
    assert.equal(message, `${resource} not found`);
  });
}

const uuid = '01999999-9999-7999-8999-999999999999';
const malformed = [
  'nonsense',
  'ct_',
  contact.id.slice(0, -1),
  `${contact.id}0`,
  contact.id.toUpperCase(),
  contact.id.replace('ct_', 'conv_'),
  `ct_z${contact.id.slice(4)}`,
  'ct_iiiiiiiiiiiiiiiiiiiiiiiiii',
  '%00',
  '%F0%9F%98%80',
  "ct_' or 1=1--",
  'x'.repeat(300),
  'x'.repeat(5_000),
];

for (const id of malformed) {
  test(`the malformed id ${id.slice(0, 20)} answers like a missing one`, async () => {
    const headers = { 'x-request-id': 'same' };
    const missing = await ws.request('GET', `/contacts/${toId('contact', uuid)}`, undefined, { headers });
    const answer = await ws.request('GET', `/contacts/${id}`, undefined, { headers });
    assert.equal(answer.status, 404);
    assert.equal(answer.text, missing.text);
  });
}

const unknown: [method: string, path: string][] = [
  ['GET', '/nowhere'],
  ['GET', ''],
  ['GET', '/contacts/a/b/c'],
  ['DELETE', '/contacts'],
  ['PUT', '/conversations'],
  ['PATCH', '/contacts/x'],
  ['PROPFIND', '/contacts'],
];

for (const [method, path] of unknown) {
  test(`an unknown route or method (${method} /v1${path}) answers 404 not_found`, async () => {
    assertError(await ws.request(method, path), 404);
  });
}

test('a path outside /v1 answers 404 not_found', async () => {
  const answer = await fetch(`${service.origin}/contacts`, {
    headers: { authorization: `Bearer ${ws.key}` },
  });
  const body = (await answer.json()) as Data;
  assert.equal(answer.status, 404);
  assert.equal(body.error.code, 'not_found');
});

test('HEAD is not served: 404', async () => {
  const answer = await fetch(`${service.baseUrl}/contacts`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${ws.key}` },
  });
  assert.equal(answer.status, 404);
});

test('an OPTIONS that is no CORS preflight answers JSON or nothing, never plain text', async () => {
  const answer = await ws.request('OPTIONS', '/contacts');
  if (answer.text !== '') assertError(answer, answer.status);
  else assert.ok([200, 204].includes(answer.status));
});

const key = `Authorization: Bearer ${ws.key}`;
const broken: [why: string, bytes: string][] = [
  ['that is not HTTP', 'garbage\r\n\r\n'],
  ['with a version nobody speaks', 'GET /v1/contacts HTTP/9.9\r\nHost: a\r\n\r\n'],
  ['without a Host header', `GET /v1/contacts HTTP/1.1\r\n${key}\r\nConnection: close\r\n\r\n`],
  ['with headers too large', `GET /v1/contacts HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`],
  ['with a header that has no name', 'GET /v1/contacts HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n'],
  [
    'with conflicting lengths',
    `POST /v1/contacts HTTP/1.1\r\nHost: a\r\n${key}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`,
  ],
  [
    'with a broken chunk',
    `POST /v1/contacts HTTP/1.1\r\nHost: a\r\n${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
  ],
  [
    'with an expectation nobody can meet',
    `POST /v1/contacts HTTP/1.1\r\nHost: a\r\n${key}\r\nExpect: 200-maybe\r\nConnection: close\r\n\r\n`,
  ],
  [
    'with a path that is not percent-encoded UTF-8',
    `GET /v1/contacts/%zz HTTP/1.1\r\nHost: a\r\n${key}\r\nConnection: close\r\n\r\n`,
  ],
];

for (const [why, bytes] of broken) {
  test(`a request ${why} answers 400 as JSON`, async () => {
    const answer = await sendRaw(service.origin, bytes);
    const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
    assert.match(head, /^HTTP\/1\.1 400 /);
    assert.match(head, /content-type: application\/json/i);
    const { error } = JSON.parse(body);
    assert.equal(error.code, 'bad_request');
    assert.equal(error.status, 400);
    assert.match(error.request_id, /^req_/);
  });
}
