import assert from 'node:assert/strict';
import test from 'node:test';
import { toId } from '../../server/ids.ts';
import {
  assertError,
  eventsOf,
  makeChannel,
  makeConversation,
  makeTemplate,
  messagesOf,
  sendMessage,
} from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const channel = await makeChannel(ws);
const { id } = await makeConversation(ws, { channel_id: channel.id });

const send = (body: unknown) => ws.request('POST', `/conversations/${id}/messages`, body);

const rendered: [why: string, body: string, variables: object | undefined, content: string][] = [
  ['without placeholders', 'Hello', undefined, 'Hello'],
  ['with a named placeholder', 'Hello {{name}}', { name: 'Ada' }, 'Hello Ada'],
  ['with a numbered placeholder', 'Hello {{1}}', { 1: 'Ada' }, 'Hello Ada'],
  ['with a placeholder used twice', '{{a}} and {{a}}', { a: 'x' }, 'x and x'],
  ['with variables it does not use', 'Hello', { name: 'Ada' }, 'Hello'],
  ['with a number and a boolean as variables', '{{n}} {{yes}}', { n: 3, yes: true }, '3 true'],
  ['with a value that looks like a placeholder', '{{a}}', { a: '{{b}}', b: 'no' }, '{{b}}'],
  ['with a value that looks like a replacement pattern', '[{{a}}]', { a: '$&$1' }, '[$&$1]'],
];

for (const [why, body, template_variables, content] of rendered) {
  test(`a template ${why} is sent as the rendered text`, async () => {
    const template = await makeTemplate(ws, { body });
    const message = await sendMessage(ws, id, { template_id: template.id, template_variables });
    assert.equal(message.content, content);
    assert.equal(message.type, 'outgoing');
    assert.equal((await messagesOf(ws, id)).at(-1).content, content);
  });
}

test('a template message raises message.created with the rendered text', async () => {
  const template = await makeTemplate(ws, { body: 'Hello {{name}}' });
  const { id: message } = await sendMessage(ws, id, {
    template_id: template.id,
    template_variables: { name: 'Ada' },
  });
  const raised = (await eventsOf(service, ws, 'message.created')).at(-1);
  assert.equal(raised.data.message.id, message);
  assert.equal(raised.data.message.content, 'Hello Ada');
});

const lacking: [why: string, body: string, variables: unknown][] = [
  ['no variables', '{{name}}', undefined],
  ['other variables', '{{name}}', { other: 'x' }],
  ['null for a variable', '{{name}}', { name: null }],
  ['an object for a variable', '{{name}}', { name: {} }],
  ['only an inherited name', '{{constructor}}', {}],
];

for (const [why, body, template_variables] of lacking) {
  test(`a template sent with ${why} where one is missing answers 422`, async () => {
    const template = await makeTemplate(ws, { body });
    assertError(await send({ template_id: template.id, template_variables }), 422, 'template_variables');
  });
}

test('the refusal names the variables that are missing', async () => {
  const template = await makeTemplate(ws, { body: '{{first}} {{second}} {{third}}' });
  const answer = await send({ template_id: template.id, template_variables: { second: 'x' } });
  const { message } = assertError(answer, 422);
  assert.match(message, /first/);
  assert.match(message, /third/);
  assert.doesNotMatch(message, /second/);
});

for (const status of ['pending', 'rejected']) {
  test(`a template that is ${status} answers 422`, async () => {
    const template = await makeTemplate(ws, { body: 'Hello', status });
    assertError(await send({ template_id: template.id }), 422, 'template_id');
  });
}

test('an archived template answers 422', async () => {
  const template = await makeTemplate(ws, { body: 'Hello' });
  await ws.request('DELETE', `/templates/${template.id}`);
  assertError(await send({ template_id: template.id }), 422, 'template_id');
});

for (const [kind, template_id] of [
  ['missing', toId('template', '01999999-9999-7999-8999-999999999999')],
  ['malformed', 'nonsense'],
  ['empty', ''],
]) {
  test(`a ${kind} template_id answers 422`, async () => {
    assertError(await send({ template_id }), 422, 'template_id');
  });
}

test('a template of this channel is accepted, one of another channel answers 422', async () => {
  const mine = await makeTemplate(ws, { body: 'Hello', channel_id: channel.id });
  assert.equal((await send({ template_id: mine.id })).status, 201);
  const other = await makeChannel(ws);
  const foreign = await makeTemplate(ws, { body: 'Hello', channel_id: other.id });
  assertError(await send({ template_id: foreign.id }), 422, 'template_id');
});

test('content and template_id together answer 422', async () => {
  const template = await makeTemplate(ws, { body: 'Hello' });
  assertError(await send({ content: 'Hello', template_id: template.id }), 422, 'content');
});

test('a private note with template_id answers 422', async () => {
  const template = await makeTemplate(ws, { body: 'Hello' });
  assertError(await send({ template_id: template.id, private: true }), 422, 'private');
});

test('a rendered text longer than the channel takes answers 422', async () => {
  const template = await makeTemplate(ws, { body: '{{long}}' });
  const answer = await send({ template_id: template.id, template_variables: { long: 'x'.repeat(10_001) } });
  assertError(answer, 422, 'template_variables');
});

test('a rendered text that is blank answers 422', async () => {
  const template = await makeTemplate(ws, { body: '{{blank}}' });
  assertError(await send({ template_id: template.id, template_variables: { blank: ' ' } }), 422);
});

test('on a channel whose platform approves templates the status cannot be set and begins as pending', async () => {
  const whatsapp = await makeChannel(ws, { type: 'whatsapp' });
  const template = await makeTemplate(ws, { channel_id: whatsapp.id });
  assert.equal(template.status, 'pending');
  const body = { name: 'x', body: 'x', channel_id: whatsapp.id, status: 'approved' };
  assertError(await ws.request('POST', '/templates', body), 422, 'status');
});
