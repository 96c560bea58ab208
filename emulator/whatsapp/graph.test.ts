import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { customer, graph, type Json, readJson, send, sendText, start } from './testing.ts';

test('a text is accepted with the id and the customer in the answer', async (t) => {
  const emulator = await start(t);
  const { status, json } = await sendText(emulator, 'Hi', { biz_opaque_callback_data: 'msg_1' });
  assert.equal(status, 200);
  assert.deepEqual(json.contacts, [{ input: `+${customer}`, wa_id: customer }]);
  assert.match(json.messages[0].id, /^wamid\.[\w+/]+=*$/);
  const [message] = await emulator.waitForSent(1);
  assert.equal(message?.wamid, json.messages[0].id);
  assert.deepEqual(message?.body['text'], { body: 'Hi', preview_url: false });
  assert.equal(message?.headers['content-type'], 'application/json');
});

test('any version of the Graph API is answered', async (t) => {
  const emulator = await start(t);
  for (const version of ['/v17.0', '/v24.0', '']) {
    const response = await fetch(`${emulator.url}${version}/${emulator.settings.phoneNumberId}`, {
      headers: { authorization: `Bearer ${emulator.settings.accessToken}` },
    });
    assert.equal(response.status, 200);
    assert.equal((await readJson(response)).display_phone_number, '15550783881');
  }
});

test('a wrong or absent access token is refused with 190', async (t) => {
  const emulator = await start(t);
  for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
    const url = `${emulator.apiBaseUrl}/${emulator.settings.phoneNumberId}/messages`;
    const response = await fetch(url, { method: 'POST', headers });
    const { error } = await readJson(response);
    assert.equal(response.status, 401);
    assert.equal(error.code, 190);
    assert.equal(error.type, 'OAuthException');
    assert.ok(error.fbtrace_id);
  }
});

test('an unknown phone number id is refused with 100 and subcode 33', async (t) => {
  const emulator = await start(t);
  const { status, json } = await graph(emulator, 'POST', '999/messages', { messaging_product: 'whatsapp' });
  assert.equal(status, 400);
  assert.equal(json.error.code, 100);
  assert.equal(json.error.error_subcode, 33);
  assert.equal(json.error.type, 'GraphMethodException');
});

test('malformed messages are refused and not accepted', async (t) => {
  const emulator = await start(t);
  const refused: [Record<string, unknown>, number][] = [
    [{ messaging_product: undefined }, 100],
    [{ to: '' }, 100],
    [{ to: 'nobody' }, 131009],
    [{ to: '15550783881', text: { body: 'x' } }, 131021],
    [{ type: 'text', text: { body: 'x'.repeat(4097) } }, 100],
    [{ type: 'text', text: { body: ' ' } }, 100],
    [{ type: 'smoke', smoke: {} }, 100],
    [{ type: 'image', image: {} }, 131008],
    [{ type: 'image', image: { id: '1' } }, 131009],
    [{ type: 'image', image: { link: 'https://example.com/a.png', caption: 'x'.repeat(1025) } }, 100],
    [{ type: 'location', location: { latitude: 91, longitude: 0 } }, 131009],
    [{ type: 'text', text: { body: 'x' }, biz_opaque_callback_data: 'x'.repeat(513) }, 100],
  ];
  for (const [message, code] of refused) {
    const { status, json } = await send(emulator, message);
    assert.deepEqual([status, json.error.code], [400, code], JSON.stringify(message).slice(0, 80));
  }
  assert.equal(emulator.sent.length, 0);
});

test('a text of 4096 characters, a picture by link and a place are accepted', async (t) => {
  const emulator = await start(t);
  const accepted = [
    { type: 'text', text: { body: '😀'.repeat(4096) } },
    { type: 'image', image: { link: 'https://example.com/a.png', caption: 'A' } },
    { type: 'location', location: { latitude: 52.5, longitude: 13.4, name: 'Berlin' } },
  ];
  for (const message of accepted) assert.equal((await send(emulator, message)).status, 200);
  assert.deepEqual(
    emulator.sent.map(({ type }) => type),
    ['text', 'image', 'location'],
  );
});

test('a template must exist, be approved and get its parameters', async (t) => {
  const emulator = await start(t);
  const text = (value: string) => ({ type: 'text', text: value });
  const named = (parameter_name: string, value: string) => ({ parameter_name, ...text(value) });
  const cases: [name: string, language: string, parameters: unknown[], outcome: number][] = [
    ['order_shipped', 'en', [text('Ada'), text('A-1')], 0],
    ['order_shipped', 'en', [text('Ada')], 132000],
    ['order_shipped', 'en', [text('Ada'), { type: 'text', text: '' }], 131008],
    ['order_shipped', 'fr', [text('Ada'), text('A-1')], 132001],
    ['appointment_reminder', 'en', [named('date', '1 May'), named('first_name', 'Ada')], 0],
    ['appointment_reminder', 'en', [text('Ada'), text('1 May')], 132012],
    ['spring_sale', 'en', [], 132015],
    ['win_back', 'en', [text('Ada')], 132001],
  ];
  for (const [name, language, parameters, outcome] of cases) {
    const template = { name, language: { code: language }, components: [{ type: 'body', parameters }] };
    const { json } = await send(emulator, { type: 'template', template });
    assert.equal(json.error?.code ?? 0, outcome, `${name} ${language}`);
  }
  emulator.templates.change('spring_sale', 'en', { status: 'DISABLED' });
  const template = { name: 'spring_sale', language: { code: 'en' } };
  assert.equal((await send(emulator, { type: 'template', template })).json.error.code, 132016);
});

test('templates are listed in pages, with the fields asked for', async (t) => {
  const emulator = await start(t, { templates: [] });
  for (let n = 1; n <= 5; n += 1) emulator.templates.add({ name: `t${n}`, body: 'Hi {{1}}' });
  const names: string[] = [];
  let path: string | undefined =
    `${emulator.settings.businessAccountId}/message_templates?limit=2&fields=name,status`;
  while (path) {
    const { json } = await graph(emulator, 'GET', path);
    assert.deepEqual(Object.keys(json.data[0]).toSorted(), ['id', 'name', 'status']);
    assert.ok(json.paging.cursors.before);
    names.push(...json.data.map(({ name }: Json) => name));
    path = json.paging.next?.slice(`${emulator.apiBaseUrl}/`.length);
  }
  assert.deepEqual(names, ['t1', 't2', 't3', 't4', 't5']);
});

test('an uploaded file is described, downloaded with the token and deleted', async (t) => {
  const emulator = await start(t);
  const { settings, apiBaseUrl } = emulator;
  const headers = { authorization: `Bearer ${settings.accessToken}` };
  const bytes = Buffer.from('not quite a picture');
  const form = new FormData();
  form.set('messaging_product', 'whatsapp');
  form.set('type', 'image/png');
  form.set('file', new File([bytes], 'a.png', { type: 'image/png' }));
  const upload = await fetch(`${apiBaseUrl}/${settings.phoneNumberId}/media`, {
    method: 'POST',
    headers,
    body: form,
  });
  const { id } = await readJson(upload);

  const { json: described } = await graph(emulator, 'GET', id);
  const { url, ...facts } = described;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  assert.deepEqual(facts, {
    id,
    mime_type: 'image/png',
    sha256,
    file_size: bytes.length,
    messaging_product: 'whatsapp',
  });
  assert.equal((await fetch(url)).status, 401);
  assert.equal((await fetch(url.replace(/hash=.*/, 'hash=x'), { headers })).status, 404);
  const download = await fetch(url, { headers });
  assert.equal(download.headers.get('content-type'), 'image/png');
  assert.deepEqual(Buffer.from(await download.arrayBuffer()), bytes);

  assert.equal((await send(emulator, { type: 'image', image: { id } })).status, 200);
  assert.deepEqual((await graph(emulator, 'DELETE', id)).json, { success: true });
  assert.equal((await graph(emulator, 'GET', id)).json.error.error_subcode, 33);
});

test('a file of a type Meta does not take is refused', async (t) => {
  const emulator = await start(t);
  const form = new FormData();
  form.set('messaging_product', 'whatsapp');
  form.set('file', new File(['<svg/>'], 'a.svg', { type: 'image/svg+xml' }));
  const response = await fetch(`${emulator.apiBaseUrl}/${emulator.settings.phoneNumberId}/media`, {
    method: 'POST',
    headers: { authorization: `Bearer ${emulator.settings.accessToken}` },
    body: form,
  });
  assert.equal((await readJson(response)).error.code, 100);
  assert.equal(emulator.media.size, 0);
});

test("the business can mark a customer's message as read", async (t) => {
  const emulator = await start(t);
  const id = await emulator.customerSends({ from: customer, name: 'Ada', text: 'Hi' });
  const { json } = await send(emulator, { status: 'read', message_id: id });
  assert.deepEqual(json, { success: true });
  assert.equal(emulator.received[0]?.readByBusiness, true);
});
