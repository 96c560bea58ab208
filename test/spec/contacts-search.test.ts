import assert from 'node:assert/strict';
import test from 'node:test';
import { assertError, makeContact, read } from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();

const contacts = [
  { name: 'Ada Lovelace', phone: '+4915112345678', email: 'ada@example.com', tags: ['vip', 'London'] },
  { name: 'Grace Hopper', phone: '+15551234567', email: 'Grace@Navy.MIL', tags: ['vip'] },
  { name: 'ÉMILE Zola', email: 'zola_1@example.org', company: 'Lovelace & Co' },
  { name: '100% Cotton', email: 'cotton@example.net', tags: ['a_b'] },
  { name: '1000 Islands', tags: ['axb'] },
  { name: 'back\\slash' },
  { name: 'İstanbul Straße' },
  { name: 'Room (98)-76' },
];
for (const contact of contacts) await makeContact(ws, contact);

async function finds(query: string, names: string[]) {
  const { status, body } = await ws.request('GET', `/contacts?${query}`);
  assert.equal(status, 200);
  const found = body.data.map(({ name }: { name: string }) => name);
  assert.deepEqual(found.toSorted(), names.toSorted());
  assert.equal(body.meta.total, names.length);
}

const q = (text: string) => `q=${encodeURIComponent(text)}`;

const searches: [promise: string, text: string, names: string[]][] = [
  ['matches part of a name', 'lovel', ['Ada Lovelace']],
  ['matches a name in any case', 'LOVELACE', ['Ada Lovelace']],
  ['matches a name in any case beyond ASCII', 'émile', ['ÉMILE Zola']],
  ['matches over the blank between names', 'ada love', ['Ada Lovelace']],
  ['matches an e-mail address in any case', 'grace@navy.mil', ['Grace Hopper']],
  ['matches part of an e-mail address', '@example.com', ['Ada Lovelace']],
  ['matches a whole phone number', '+4915112345678', ['Ada Lovelace']],
  ['matches part of a phone number', '5112345', ['Ada Lovelace']],
  ['ignores blanks in a phone number', '+49 151 1234 5678', ['Ada Lovelace']],
  ['ignores dashes in a phone number', '555-123-4567', ['Grace Hopper']],
  ['ignores brackets in a phone number', '+1 (555) 123', ['Grace Hopper']],
  ['finds a name with brackets and dashes as written', '(98)-76', ['Room (98)-76']],
  ['takes % as a plain character', '0%', ['100% Cotton']],
  ['takes a lone % as a plain character', '%', ['100% Cotton']],
  ['takes _ as a plain character', 'zola_1', ['ÉMILE Zola']],
  ['takes a lone _ as a plain character', '_', ['ÉMILE Zola']],
  ['takes \\ as a plain character', 'k\\s', ['back\\slash']],
  ['matches short texts', '%', ['100% Cotton']],
  ['does not look at the company', '& co', []],
  ['does not look at tags', 'vip', []],
  ['does not match over the end of one field into the next', 'lovelaceada@', []],
  ['finds nothing when nothing matches', 'no such person', []],
];

for (const [promise, text, names] of searches) {
  test(`GET /contacts with q=${text} ${promise}`, () => finds(q(text), names));
}

test('GET /contacts without q lists all', () =>
  finds(
    '',
    contacts.map(({ name }) => name),
  ));

test('GET /contacts with tag lists only contacts with that tag', () =>
  finds('tag=vip', ['Ada Lovelace', 'Grace Hopper']));

test('GET /contacts with tag takes the whole name, _ as a plain character', async () => {
  await finds('tag=a_b', ['100% Cotton']);
  await finds('tag=vi', []);
});

test('GET /contacts with a tag nobody has is empty', () => finds('tag=nothing', []));

test('GET /contacts with q and tag lists what matches both', async () => {
  await finds('q=grace&tag=vip', ['Grace Hopper']);
  await finds('q=grace&tag=London', []);
});

test('a search is paged and its total is that of all pages', async () => {
  const path = '/contacts?q=example&per_page=2';
  const first = (await ws.request('GET', path)).body;
  const { next_cursor, ...pages } = first.meta;
  assert.deepEqual(pages, { total: 3, page: 1, per_page: 2, total_pages: 2 });
  assert.equal(typeof next_cursor, 'string');
  const second = (await ws.request('GET', `${path}&page=2`)).body;
  const names = [...first.data, ...second.data].map(({ name }) => name);
  assert.deepEqual(names, ['100% Cotton', 'ÉMILE Zola', 'Ada Lovelace']);
});

test('a changed contact is found by what it is now, not by what it was', async () => {
  const other = await service.workspace();
  const { id } = await makeContact(other, { name: 'Old Name', phone: '+4915100000001', tags: ['old'] });
  await other.request('PUT', `/contacts/${id}`, { name: 'New Name', phone: '+4915100000002', tags: ['new'] });
  for (const gone of ['q=old', 'q=0000001', 'tag=old'])
    assert.deepEqual(await read(other, `/contacts?${gone}`), []);
  for (const now of ['q=new', 'q=0000002', 'tag=new']) {
    assert.deepEqual(
      (await read(other, `/contacts?${now}`)).map((contact: { id: string }) => contact.id),
      [id],
    );
  }
});

test('ties of created_at are broken by id: every page walk shows each contact once', async () => {
  const other = await service.workspace();
  const made: string[] = [];
  for (let n = 0; n < 5; n++) made.push((await makeContact(other, { name: `n${n}` })).id);
  await service.sql(`update contacts set created_at = '2026-01-01' where workspace_id = $1`, [other.uuid]);
  const seen: string[] = [];
  for (const page of [1, 2, 3]) {
    const rows = await read(other, `/contacts?per_page=2&page=${page}`);
    seen.push(...rows.map(({ id }: { id: string }) => id));
  }
  assert.deepEqual(seen.toSorted(), made.toSorted());
});

test('a q longer than 255 characters answers 422', async () => {
  assertError(await ws.request('GET', `/contacts?q=${'x'.repeat(256)}`), 422, 'q');
});
