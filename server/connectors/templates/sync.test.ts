import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import type { NewTemplate } from '../../../emulator/whatsapp/templates.ts';
import { assertError, create, type Data, makeChannel, makeTemplate, read } from '../../../test/factory.ts';
import { atEnd, startService, type Workspace } from '../../../test/harness.ts';
import { emulatorEnv, makeWhatsapp } from '../../../test/whatsapp.ts';
import { syncDueTemplates } from './sync.ts';

const service = await startService({ env: emulatorEnv });

async function begin(templates: NewTemplate[]) {
  const ws = await service.workspace();
  const { id, emulator } = await makeWhatsapp(service, ws, { templates });
  const sync = () => ws.request('POST', `/channels/${id}/sync_templates`);
  return { ws, id, emulator, sync };
}

const listed = (ws: Workspace, archived = false): Promise<Data[]> =>
  read(ws, `/templates?per_page=100&archived=${archived}`);
const shown = async (ws: Workspace) =>
  (await listed(ws)).map(({ name, language, category, status, body }) => ({
    name,
    language,
    category,
    status,
    body,
  }));

test('templates come with their language, category, approval and text', async () => {
  const { ws, id, sync } = await begin([
    { name: 'plain', body: 'Hello' },
    { name: 'sale', language: 'pt_BR', category: 'MARKETING', status: 'PAUSED', body: 'Oi {{1}}' },
    { name: 'new', language: 'zh_CN', status: 'PENDING', body: '你好 \u{1F44B}' },
    { name: 'appeal', status: 'IN_APPEAL', body: 'x' },
    { name: 'bad', status: 'REJECTED', body: 'x' },
    { name: 'off', status: 'DISABLED', body: 'x' },
  ]);
  const answer = await sync();
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.body.data, { created: 6, updated: 0, archived: 0 });
  const found = Object.fromEntries((await shown(ws)).map(({ name, ...rest }) => [name, rest]));
  const usual = { language: 'en_US', category: 'UTILITY' };
  assert.deepEqual(found, {
    plain: { ...usual, status: 'approved', body: 'Hello' },
    sale: { language: 'pt_BR', category: 'MARKETING', status: 'rejected', body: 'Oi {{1}}' },
    new: { ...usual, language: 'zh_CN', status: 'pending', body: '你好 \u{1F44B}' },
    appeal: { ...usual, status: 'pending', body: 'x' },
    bad: { ...usual, status: 'rejected', body: 'x' },
    off: { ...usual, status: 'rejected', body: 'x' },
  });
  for (const { channel_id } of await listed(ws)) assert.equal(channel_id, id);
  assert.deepEqual((await sync()).body.data, { created: 0, updated: 0, archived: 0 });
});

test('of a template with a header, a footer and buttons the body is the text; one without a body has none', async () => {
  const { ws, sync } = await begin([
    {
      name: 'rich',
      components: [
        { type: 'HEADER', format: 'TEXT', text: 'Header' },
        { type: 'BODY', text: 'Body {{1}}' },
        { type: 'FOOTER', text: 'Footer' },
        { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Yes' }] },
      ],
    },
    { name: 'empty', components: [] },
  ]);
  await sync();
  assert.deepEqual(
    (await shown(ws)).map(({ name, body }) => [name, body]),
    [['rich', 'Body {{1}}']],
  );
});

test('what changes on the platform changes here, and what is gone there is archived here', async () => {
  const { ws, emulator, sync } = await begin([
    { name: 'stays', body: 'Before' },
    { name: 'goes', body: 'x' },
  ]);
  await sync();
  const before = (await listed(ws)).find(({ name }) => name === 'stays');
  emulator.templates.change('stays', 'en_US', {
    status: 'PAUSED',
    category: 'MARKETING',
    components: [{ type: 'BODY', text: 'After' }],
  });
  emulator.templates.remove('goes');
  assert.deepEqual((await sync()).body.data, { created: 0, updated: 1, archived: 1 });
  const [after, ...others] = await listed(ws);
  assert.deepEqual(others, []);
  assert.deepEqual(after, { ...before, body: 'After', category: 'MARKETING', status: 'rejected' });
});

test('what was gone from the platform and is there again is the same template again', async () => {
  const { ws, emulator, sync } = await begin([{ name: 'returns', body: 'x' }]);
  await sync();
  const [before] = await listed(ws);
  emulator.templates.remove('returns');
  await sync();
  assert.deepEqual(await listed(ws), []);
  emulator.templates.add({ name: 'returns', body: 'x' });
  assert.deepEqual((await sync()).body.data, { created: 0, updated: 1, archived: 0 });
  assert.deepEqual(await listed(ws), [before]);
});

test('what was archived here stays archived, and is kept up to date', async () => {
  const { ws, emulator, sync } = await begin([{ name: 'unwanted', body: 'Before' }]);
  await sync();
  const [{ id }] = await listed(ws);
  await ws.request('DELETE', `/templates/${id}`);
  emulator.templates.change('unwanted', 'en_US', { components: [{ type: 'BODY', text: 'After' }] });
  await sync();
  assert.deepEqual(await listed(ws), []);
  assert.equal((await read(ws, `/templates/${id}`)).body, 'After');
});

test('a template written here is the one on the platform with its name and language', async () => {
  const { ws, id, sync } = await begin([
    { name: 'greeting', language: 'en', body: 'Hello {{1}}' },
    { name: 'greeting', language: 'de', body: 'Hallo {{1}}' },
  ]);
  const made = await makeTemplate(ws, { name: 'greeting', language: 'de', body: 'Entwurf', channel_id: id });
  assert.equal(made.status, 'pending');
  assert.deepEqual((await sync()).body.data, { created: 1, updated: 1, archived: 0 });
  const { body, status } = await read(ws, `/templates/${made.id}`);
  assert.deepEqual({ body, status }, { body: 'Hallo {{1}}', status: 'approved' });
});

test('a template edited here waits, until the platform says again what it is', async () => {
  const { ws, sync } = await begin([{ name: 'order', body: 'Theirs' }]);
  await sync();
  const [{ id }] = await listed(ws);
  const edited = await ws.request('PATCH', `/templates/${id}`, { name: 'renamed', body: 'Ours' });
  assert.equal(edited.body.data.status, 'pending');
  await sync();
  const { name, body, status } = await read(ws, `/templates/${id}`);
  assert.deepEqual({ name, body, status }, { name: 'order', body: 'Theirs', status: 'approved' });
});

test('templates written here for any channel, or another one, are left alone', async () => {
  const { ws, sync } = await begin([{ name: 'greeting', language: 'en', body: 'Theirs' }]);
  const everywhere = await makeTemplate(ws, { name: 'greeting', language: 'en' });
  const api = await makeChannel(ws);
  const elsewhere = await makeTemplate(ws, { name: 'greeting', language: 'en', channel_id: api.id });
  assert.equal((await sync()).body.data.created, 1);
  for (const made of [everywhere, elsewhere]) assert.deepEqual(await read(ws, `/templates/${made.id}`), made);
});

const many = Array.from({ length: 250 }, (_, n) => ({ name: `template_${n}`, body: `Text ${n}` }));

test('every page is asked for', async () => {
  const { ws, sync } = await begin(many);
  assert.deepEqual((await sync()).body.data, { created: 250, updated: 0, archived: 0 });
  const { body } = await ws.request('GET', '/templates');
  assert.equal(body.meta.total, 250);
});

test('a list that fails midway changes nothing, and the answer says why', async () => {
  const { ws, emulator, sync } = await begin([{ name: 'first', body: 'Before' }, ...many]);
  await sync();
  const before = await listed(ws, true);
  emulator.templates.change('first', 'en_US', { status: 'PAUSED' });
  emulator.templates.remove('template_0');
  emulator.delayNext(0, { on: 'templates' });
  emulator.failNext({ code: 190, on: 'templates' });
  const error = assertError(await sync(), 422, 'id');
  assert.match(error.message, /access token of this channel has expired .*Meta 190/);
  assert.deepEqual(await listed(ws, true), before);
  assert.deepEqual((await sync()).body.data, { created: 0, updated: 1, archived: 1 });
});

/** Says what it is told to, a page after the other. */
let pages: unknown[] = [];
const strange = createServer((_request, response) => response.end(JSON.stringify(pages.shift()))).listen(
  0,
  '127.0.0.1',
);
await once(strange, 'listening');
atEnd(async () => {
  strange.closeAllConnections();
  strange.close();
});

const item = { id: '1', name: 'one', language: 'en', components: [{ type: 'BODY', text: 'One' }] };
const more = { next: 'https://graph.facebook.com/next', cursors: { after: 'x' } };

async function pointElsewhere(ws: Workspace, id: string) {
  const { port } = strange.address() as AddressInfo;
  await ws.request('PATCH', `/channels/${id}`, {
    settings: { api_base_url: `http://127.0.0.1:${port}/v1` },
  });
}

test('an answer that is no list of templates archives nothing', async () => {
  const { ws, id, sync } = await begin([{ name: 'kept', body: 'x' }]);
  await sync();
  const before = await listed(ws, true);
  await pointElsewhere(ws, id);
  for (const answers of [
    [{}],
    ['text'],
    [null],
    [{ data: {} }],
    [{ data: null }],
    [{ data: [item], paging: { next: 'https://graph.facebook.com/next' } }],
    [{ data: [item], paging: more }, {}],
    Array.from({ length: 60 }, () => ({ data: [item], paging: more })),
  ]) {
    pages = answers;
    assertError(await sync(), 422, 'id');
    assert.deepEqual(await listed(ws, true), before);
  }
});

test('what is no template in a list is passed over, and one that stands on two pages is one', async () => {
  const { ws, id, sync } = await begin([]);
  await pointElsewhere(ws, id);
  pages = [
    {
      data: [item, null, 'x', { id: '2' }, { ...item, id: 3 }, { ...item, id: '4', components: [null] }],
      paging: more,
    },
    { data: [{ ...item, status: 'APPROVED' }], paging: {} },
  ];
  assert.deepEqual((await sync()).body.data, { created: 1, updated: 0, archived: 0 });
  const [{ status, category }] = await listed(ws);
  assert.deepEqual({ status, category }, { status: 'approved', category: null });
});

test('two at once make no template twice', async () => {
  const { ws, sync } = await begin(many.slice(0, 20));
  const answers = await Promise.all([sync(), sync(), sync()]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal((await listed(ws, true)).length, 20);
});

test('only a whatsapp channel that knows its account can be asked', async () => {
  const ws = await service.workspace();
  const api = await makeChannel(ws);
  const bare = await create(ws, '/channels', { type: 'whatsapp', name: 'Bare' });
  for (const { id } of [api, bare])
    assertError(await ws.request('POST', `/channels/${id}/sync_templates`), 422, 'id');
});

test('it happens by itself, and not again at once; one account that fails does not hold up the others', async () => {
  const [broken, well] = [await begin([{ name: 'a', body: 'x' }]), await begin([{ name: 'b', body: 'x' }])];
  broken.emulator.failNext({ code: 190, on: 'templates', times: 9 });
  await syncDueTemplates(service.ctx);
  assert.deepEqual(await listed(broken.ws), []);
  assert.equal((await listed(well.ws)).length, 1);
  well.emulator.templates.add({ name: 'c', body: 'x' });
  await syncDueTemplates(service.ctx);
  assert.equal((await listed(well.ws)).length, 1);
  await service.sql(`update channels set templates_synced_at = templates_synced_at - interval '11 min'`);
  await syncDueTemplates(service.ctx);
  assert.equal((await listed(well.ws)).length, 2);
});
