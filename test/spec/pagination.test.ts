import assert from 'node:assert/strict';
import test from 'node:test';
import {
  assertError,
  create,
  type Data,
  inParallel,
  makeChannel,
  makeContact,
  makeConversation,
  sendMessage,
} from '../factory.ts';
import { type Answer, startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const contact = await makeContact(ws, { tags: ['paged'] });
const channel = await makeChannel(ws);
const base = { contact_id: contact.id, channel_id: channel.id };
const thread = await makeConversation(ws, base);
await inParallel(Array.from({ length: 59 }), 8, (_, n) =>
  makeContact(ws, { name: `n${n}`, tags: ['paged'] }),
);
await inParallel(Array.from({ length: 59 }), 8, () => makeConversation(ws, base));
await inParallel(Array.from({ length: 60 }), 8, (_, n) => sendMessage(ws, thread.id, { content: `m${n}` }));
await inParallel(Array.from({ length: 60 }), 8, (_, n) => create(ws, '/teams', { name: `t${n}` }));

/** Sixty of each. */
const lists: [path: string, perPage: number][] = [
  ['/conversations', 25],
  [`/conversations?channel_id=${channel.id}&status=open`, 25],
  [`/conversations?contact_id=${contact.id}`, 25],
  ['/contacts', 25],
  ['/contacts?tag=paged', 25],
  ['/contacts?tag=paged&q=n', 25],
  [`/conversations/${thread.id}/messages`, 50],
  [`/conversations/${thread.id}/messages?order=desc`, 50],
  ['/teams', 25],
];

const page = (path: string, parameters: Record<string, number>): Promise<Answer> => {
  const query = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
  return ws.request('GET', `${path}${path.includes('?') ? '&' : '?'}${query.toString()}`);
};
const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: Data) => id);

/** `meta` without what walking adds. */
function pagesOf({ body }: Answer) {
  const { next_cursor: _, ...pages } = body.meta;
  return pages;
}

function linksOf({ headers }: Answer): Record<string, string> {
  const links = (headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g);
  return Object.fromEntries([...links].map(([, url, rel]) => [rel, url]));
}

for (const [path, perPage] of lists) {
  const name = path.replace(/_[0-9a-z]{26}/, '_…');
  const total = path.includes('q=n') ? 59 : 60; // the first contact is named otherwise

  test(`GET ${name}: page is 1 and per_page ${perPage} by default`, async () => {
    const answer = await page(path, {});
    assert.equal(answer.body.data.length, perPage);
    assert.deepEqual(pagesOf(answer), {
      total,
      page: 1,
      per_page: perPage,
      total_pages: Math.ceil(total / perPage),
    });
  });

  test(`GET ${name}: pages of any size show each result once, in the order of one big page`, async () => {
    const whole = idsOf(await page(path, { per_page: 100 }));
    assert.equal(whole.length, total);
    for (const size of [7, 25, 60]) {
      const seen: string[] = [];
      for (let n = 1; n <= Math.ceil(total / size); n++) {
        const answer = await page(path, { page: n, per_page: size });
        assert.deepEqual(pagesOf(answer), {
          total,
          page: n,
          per_page: size,
          total_pages: Math.ceil(total / size),
        });
        seen.push(...idsOf(answer));
      }
      assert.deepEqual(seen, whole);
    }
  });

  test(`GET ${name}: a page past the end has empty data and the true total`, async () => {
    for (const n of [100, 1_000_000]) {
      const answer = await page(path, { page: n, per_page: 100 });
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body.data, []);
      assert.deepEqual(pagesOf(answer), { total, page: n, per_page: 100, total_pages: 1 });
    }
  });

  test(`GET ${name}: page and per_page out of range answer 400`, async () => {
    const bad = ['page=0', 'page=-1', 'page=1.5', 'page=x', 'page=', 'page=1000001', 'page=1e9', 'page=NaN'];
    const sizes = ['per_page=0', 'per_page=-1', 'per_page=101', 'per_page=2.5', 'per_page=all', 'per_page='];
    for (const query of [...bad, ...sizes, 'page=99999999999999999999', 'per_page=25&per_page=50']) {
      const answer = await ws.request('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`);
      assertError(answer, 400, query.split('=')[0]);
    }
  });
}

for (const text of ['0x10', '1e1', '%201', '1%20', '%2B1', '٣']) {
  test(`page=${text} is not an integer as written in decimal: 400`, async () => {
    assertError(await ws.request('GET', `/contacts?page=${text}`), 400, 'page');
  });
}

test('per_page of 1 and of 100 are taken', async () => {
  for (const per_page of [1, 100])
    assert.equal((await page('/contacts', { per_page })).body.meta.per_page, per_page);
});

test('an empty list has total 0 and total_pages 0', async () => {
  const empty = await service.workspace();
  for (const path of ['/conversations', '/contacts', '/webhooks', '/labels']) {
    const { body } = await empty.request('GET', path);
    assert.deepEqual(body.data, []);
    assert.equal(body.meta.total, 0);
    assert.equal(body.meta.total_pages, 0);
  }
});

test('Link on the first page: first, next and last, no prev', async () => {
  const links = linksOf(await page('/contacts', { per_page: 20 }));
  assert.deepEqual(Object.keys(links).toSorted(), ['first', 'last', 'next']);
});

test('Link on a page between: first, prev, next and last', async () => {
  const links = linksOf(await page('/contacts', { page: 2, per_page: 20 }));
  const pageOf = (rel: string) => new URL(links[rel]!, service.origin).searchParams.get('page');
  assert.deepEqual(['first', 'prev', 'next', 'last'].map(pageOf), ['1', '1', '3', '3']);
});

test('Link on the last page: first, prev and last, no next', async () => {
  const links = linksOf(await page('/contacts', { page: 3, per_page: 20 }));
  assert.deepEqual(Object.keys(links).toSorted(), ['first', 'last', 'prev']);
});

test('Link past the end: prev leads back to the last page, no next', async () => {
  const links = linksOf(await page('/contacts', { page: 50, per_page: 20 }));
  assert.equal(links['prev'], links['last']);
  assert.equal('next' in links, false);
});

test('following next from the first page walks through every result once, filters kept', async () => {
  const seen: string[] = [];
  let url: string | undefined = `/v1/contacts?q=n&tag=paged&per_page=25`;
  while (url !== undefined) {
    const answer: Answer = await ws.request('GET', url.replace(/^\/v1/, ''));
    seen.push(...idsOf(answer));
    url = linksOf(answer)['next'];
  }
  assert.deepEqual(seen, idsOf(await ws.request('GET', '/contacts?q=n&tag=paged&per_page=100')));
});

test('Link keeps odd characters of a filter intact', async () => {
  const other = await service.workspace();
  await makeContact(other, { name: 'one', tags: ['a&b=c "d" é'] });
  await makeContact(other, { name: 'two', tags: ['a&b=c "d" é'] });
  const answer = await other.request('GET', `/contacts?per_page=1&tag=${encodeURIComponent('a&b=c "d" é')}`);
  assert.equal(answer.body.meta.total, 2);
  const next = await other.request('GET', linksOf(answer)['next']!.replace(/^\/v1/, ''));
  assert.deepEqual(
    next.body.data.map(({ name }: Data) => name),
    ['one'],
  );
});
