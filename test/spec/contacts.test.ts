import assert from 'node:assert/strict';
import test from 'node:test';
import { toId } from '../../server/ids.ts';
import { assertError, create, eventsDuring, inParallel, makeContact, read } from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const missing = toId('contact', '01999999-9999-7999-8999-999999999999');
const full = {
  name: 'Ada Lovelace',
  phone: '+4915112345678',
  email: 'ada@example.com',
  company: 'Analytical Engines',
  tags: ['vip', 'london'],
  custom_attributes: { plan: 'gold', seats: 3 },
};

const put = (id: string, body: unknown) => ws.request('PUT', `/contacts/${id}`, body);
const post = (body: unknown) => ws.request('POST', '/contacts', body);

test('GET /contacts lists contacts, newest first', async () => {
  const other = await service.workspace();
  const made: string[] = [];
  for (const name of ['one', 'two', 'three']) made.push((await makeContact(other, { name })).id);
  const listed = (await read(other, '/contacts')).map(({ id }: { id: string }) => id);
  assert.deepEqual(listed, made.toReversed());
});

test('GET /contacts/{id} returns one contact', async () => {
  const contact = await makeContact(ws, full);
  assert.deepEqual(await read(ws, `/contacts/${contact.id}`), contact);
});

test('GET and PUT /contacts/{id} of none answer 404 and name the contact', async () => {
  assert.equal(
    assertError(await ws.request('GET', `/contacts/${missing}`), 404).message,
    'Contact not found',
  );
  assert.equal(assertError(await put(missing, { name: 'x' }), 404).message, 'Contact not found');
});

test('POST /contacts with only a name creates a contact', async () => {
  assert.equal((await create(ws, '/contacts', { name: 'Ada' })).name, 'Ada');
});

test('POST /contacts answers custom_attributes, and company null when not given', async () => {
  const contact = await create(ws, '/contacts', { name: 'Ada', custom_attributes: { a: 1 } });
  assert.deepEqual(contact.custom_attributes, { a: 1 });
  assert.equal(contact.company, null);
});

test('POST /contacts twice with the same phone and e-mail creates two contacts', async () => {
  const [one, two] = [await makeContact(ws, full), await makeContact(ws, full)];
  assert.notEqual(one.id, two.id);
});

test('POST /contacts with phone, email and company null creates a contact without them', async () => {
  const contact = await create(ws, '/contacts', { name: 'Ada', phone: null, email: null, company: null });
  assert.deepEqual([contact.phone, contact.email, contact.company], [null, null, null]);
});

const refused: [body: Record<string, unknown>, status: number, field: string][] = [
  [{ name: undefined }, 400, 'name'],
  [{ name: null }, 400, 'name'],
  [{ name: 5 }, 400, 'name'],
  [{ name: '' }, 422, 'name'],
  [{ name: '  ' }, 422, 'name'],
  [{ name: 'x'.repeat(256) }, 422, 'name'],
  [{ phone: 4915112345678 }, 400, 'phone'],
  [{ email: {} }, 400, 'email'],
  [{ company: ['x'] }, 400, 'company'],
  [{ company: 'x'.repeat(256) }, 422, 'company'],
  [{ tags: 'vip' }, 400, 'tags'],
  [{ tags: null }, 400, 'tags'],
  [{ tags: [5] }, 400, 'tags.0'],
  [{ tags: [' '] }, 422, 'tags.0'],
  [{ tags: Array.from({ length: 51 }, (_, n) => `t${n}`) }, 422, 'tags'],
  [{ custom_attributes: [] }, 400, 'custom_attributes'],
  [{ custom_attributes: 'x' }, 400, 'custom_attributes'],
  [{ custom_attributes: null }, 400, 'custom_attributes'],
];

for (const [body, status, field] of refused) {
  const shown = JSON.stringify(body).slice(0, 40);
  test(`POST /contacts with ${shown} answers ${status}, naming ${field}`, async () => {
    assertError(await post({ name: 'Ada', ...body }), status, field);
  });
  if (body['name'] === undefined && 'name' in body) continue; // PUT needs no name
  test(`PUT /contacts/{id} with ${shown} answers ${status} and changes nothing`, async () => {
    const before = await makeContact(ws, full);
    const events = await eventsDuring(service, ws, async () => {
      assertError(await put(before.id, { company: 'Other', ...body }), status, field);
    });
    assert.deepEqual(events, []);
    assert.deepEqual(await read(ws, `/contacts/${before.id}`), before);
  });
}

for (const phone of ['+4915112345678', '+1234567', '+123456789012345']) {
  test(`phone ${phone} is E.164 and comes back as it was given`, async () => {
    assert.equal((await makeContact(ws, { phone })).phone, phone);
  });
}

for (const phone of [
  '4915112345678',
  '+0915112345678',
  '+123456',
  '+1234567890123456',
  '+49 151 12345678',
  '+49-151-12345678',
  '+4915112345678\n',
  ' +4915112345678',
  '+49151123456a',
  '+٤٩١٥١١٢٣٤٥',
  '',
]) {
  test(`phone ${JSON.stringify(phone)} is not E.164: 422`, async () => {
    assertError(await post({ name: 'Ada', phone }), 422, 'phone');
  });
}

for (const email of ['ada@example.com', 'a+b@x.co.uk', 'ÄDA@exämple.de', "o'neil@example.com"]) {
  test(`e-mail ${email} is accepted and comes back as it was given`, async () => {
    assert.equal((await makeContact(ws, { email })).email, email);
  });
}

for (const email of ['ada', 'ada@', '@example.com', 'a b@example.com', 'ada@example.com\n', '']) {
  test(`e-mail ${JSON.stringify(email)} is malformed: 422`, async () => {
    assertError(await post({ name: 'Ada', email }), 422, 'email');
  });
}

test('PUT /contacts/{id} changes only the included fields', async () => {
  const before = await makeContact(ws, full);
  const changes: Record<string, unknown>[] = [
    { name: 'Augusta' },
    { phone: '+4915100000000' },
    { email: 'augusta@example.com' },
    { company: 'Other' },
    { tags: ['new'] },
  ];
  const expected = { ...before };
  for (const change of changes) {
    Object.assign(expected, change);
    assert.deepEqual((await put(before.id, change)).body, { data: expected });
  }
  assert.deepEqual(await read(ws, `/contacts/${before.id}`), expected);
});

test('PUT /contacts/{id} with an empty object changes nothing', async () => {
  const before = await makeContact(ws, full);
  assert.deepEqual((await put(before.id, {})).body, { data: before });
});

for (const field of ['phone', 'email', 'company']) {
  test(`PUT /contacts/{id} with ${field} null unsets it`, async () => {
    const before = await makeContact(ws, full);
    assert.deepEqual((await put(before.id, { [field]: null })).body.data, { ...before, [field]: null });
  });
}

test('PUT /contacts/{id} with tags replaces the list, with [] empties it', async () => {
  const { id } = await makeContact(ws, full);
  assert.deepEqual((await put(id, { tags: ['london', 'new'] })).body.data.tags, ['london', 'new']);
  assert.deepEqual((await put(id, { tags: [] })).body.data.tags, []);
});

test('tags are trimmed and named once', async () => {
  const { tags } = await makeContact(ws, { tags: [' vip ', 'vip', 'new\t'] });
  assert.deepEqual(tags, ['vip', 'new']);
});

test('a contact can have 50 tags', async () => {
  const tags = Array.from({ length: 50 }, (_, n) => `tag ${n}`);
  assert.deepEqual((await makeContact(ws, { tags })).tags, tags);
});

test('PUT /contacts/{id} with custom_attributes replaces the keys it names and null removes one', async () => {
  const { id } = await makeContact(ws, { custom_attributes: { a: 1, b: 2, c: 3 } });
  const { data } = (await put(id, { custom_attributes: { b: 'two', c: null, d: [4] } })).body;
  assert.deepEqual(data.custom_attributes, { a: 1, b: 'two', d: [4] });
  assert.deepEqual((await read(ws, `/contacts/${id}`)).custom_attributes, { a: 1, b: 'two', d: [4] });
});

test('custom_attributes take any key and any JSON value', async () => {
  const custom_attributes = {
    text: 'x',
    number: -1.5,
    yes: true,
    list: [1, 'a', null],
    nested: { deep: { er: 1 } },
    constructor: 'x',
    'a key with spaces': '',
  };
  const { id } = await makeContact(ws, { custom_attributes });
  assert.deepEqual((await read(ws, `/contacts/${id}`)).custom_attributes, custom_attributes);
});

test('a custom attribute named __proto__ is a key like any other', async () => {
  const raw = '{"name":"Ada","custom_attributes":{"__proto__":"x"}}';
  const answer = await ws.request('POST', '/contacts', undefined, { raw });
  assert.equal(answer.status, 201);
  const { text } = await ws.request('GET', `/contacts/${answer.body.data.id}`);
  assert.match(text, /"custom_attributes":\{"__proto__":"x"\}/);
});

const types: [type: string, good: unknown[], bad: unknown[]][] = [
  ['string', ['x', ''], [1, true, ['x']]],
  ['number', [0, -1.5], ['1', true]],
  ['boolean', [true, false], ['true', 1]],
  ['date', ['2026-11-15', '2026-11-15T09:30:00Z'], ['15.11.2026', '2026-02-30', 20261115]],
];

for (const [type, good, bad] of types) {
  test(`a custom attribute defined as ${type} takes only that type: 422 otherwise`, async () => {
    const key = `defined ${type}`;
    await create(ws, '/custom_attributes', { key, type });
    const { id } = await makeContact(ws);
    for (const value of good) {
      assert.equal((await post({ name: 'Ada', custom_attributes: { [key]: value } })).status, 201);
      assert.equal((await put(id, { custom_attributes: { [key]: value } })).status, 200);
    }
    for (const value of bad) {
      assertError(
        await post({ name: 'Ada', custom_attributes: { [key]: value } }),
        422,
        `custom_attributes.${key}`,
      );
      assertError(await put(id, { custom_attributes: { [key]: value } }), 422, `custom_attributes.${key}`);
    }
    assert.equal((await put(id, { custom_attributes: { [key]: null } })).status, 200);
  });
}

test('parallel PUTs of different fields all take effect', async () => {
  const { id } = await makeContact(ws);
  await inParallel(Array.from({ length: 20 }), 20, (_, n) =>
    put(id, { custom_attributes: { [`key${n}`]: n } }),
  );
  const { custom_attributes } = await read(ws, `/contacts/${id}`);
  assert.equal(Object.keys(custom_attributes).length, 20);
});

test('contacts cannot be deleted: DELETE answers 404', async () => {
  const { id } = await makeContact(ws);
  assertError(await ws.request('DELETE', `/contacts/${id}`), 404);
});
