import assert from 'node:assert/strict';
import test from 'node:test';
import type { Plan } from '../../server/http/authenticate.ts';
import { fromId } from '../../server/ids.ts';
import { assertError, inParallel, makeApiKey } from '../factory.ts';
import { type Answer, clientFor, startService, type Workspace } from '../harness.ts';

/** Two servers on one database, as two processes would be. */
const service = await startService({ env: { INBOX_TRUST_PROXY: 'on' } });
const second = await startService({ url: service.databaseUrl, env: { INBOX_TRUST_PROXY: 'on' } });

/** Cheap for the server: what counts is that it counts. */
const path = '/contacts/nonsense';

const bucketOf = (ws: Workspace) => `key ${fromId('key', ws.keyId)}`;
const age = (bucket: string, by: string) =>
  service.sql(`update rate_windows set opened_at = opened_at - $2::interval where bucket = $1`, [bucket, by]);
const passed = (answers: Answer[]) => answers.filter(({ status }) => status !== 429).length;
const number = (answer: Answer, header: string) => Number(answer.headers.get(header));

const plans: [Plan, number][] = [
  ['starter', 60],
  ['pro', 300],
  ['business', 1000],
];

for (const [plan, limit] of plans) {
  test(`plan ${plan}: of more requests at once, over two servers, exactly ${limit} pass`, async () => {
    const { key } = await service.workspace({ plan });
    const clients = [clientFor(service.baseUrl, key), clientFor(second.baseUrl, key)];
    const answers = await inParallel(Array.from({ length: limit + 50 }), 40, (_, n) =>
      clients[n % 2]!('GET', path),
    );
    assert.equal(passed(answers), limit);
    for (const answer of answers) {
      if (answer.status === 429) assertError(answer, 429);
      assert.equal(number(answer, 'x-ratelimit-limit'), limit);
    }
    const remaining = answers
      .filter(({ status }) => status !== 429)
      .map((answer) => number(answer, 'x-ratelimit-remaining'));
    assert.deepEqual(
      remaining.toSorted((a, b) => a - b),
      Array.from({ length: limit }, (_, n) => n),
    );
  });
}

test('the limit is counted per key: another key of the workspace has its own', async () => {
  const ws = await service.workspace({ plan: 'starter' });
  const key = await ws.makeKey();
  await inParallel(Array.from({ length: 60 }), 20, () => ws.request('GET', path));
  assertError(await ws.request('GET', path), 429);
  const other = await ws.request('GET', path, undefined, { key });
  assert.equal(other.status, 404);
  assert.equal(number(other, 'x-ratelimit-remaining'), 59);
});

test('every authenticated answer has X-RateLimit-Limit, -Remaining and -Reset', async () => {
  const ws = await service.workspace({ plan: 'pro' });
  const key = await ws.makeKey({ scopes: ['webhooks:read'] });
  const answers = [
    await ws.request('GET', '/contacts'),
    await ws.request('POST', '/contacts', { name: 'Ada' }),
    await ws.request('POST', '/contacts', {}),
    await ws.request('GET', '/nowhere'),
    await ws.request('GET', path),
  ];
  for (const [place, answer] of answers.entries()) {
    assert.equal(number(answer, 'x-ratelimit-limit'), 300);
    assert.equal(number(answer, 'x-ratelimit-remaining'), 299 - place);
  }
  const forbidden = await ws.request('GET', '/contacts', undefined, { key });
  assert.equal(forbidden.status, 403);
  assert.equal(number(forbidden, 'x-ratelimit-remaining'), 299);
});

test('X-RateLimit-Reset is the end of the window in epoch seconds, the same for all its requests', async () => {
  const ws = await service.workspace();
  const before = Date.now() / 1000;
  const [first, later] = [await ws.request('GET', path), await ws.request('GET', path)];
  const reset = number(first, 'x-ratelimit-reset');
  assert.ok(Number.isInteger(reset));
  assert.ok(reset >= before + 59 && reset <= Date.now() / 1000 + 62, `${reset - before} seconds ahead`);
  assert.equal(number(later, 'x-ratelimit-reset'), reset);
});

test('Retry-After is the number of seconds to wait until the window ends', async () => {
  const ws = await service.workspace({ plan: 'starter' });
  await inParallel(Array.from({ length: 60 }), 20, () => ws.request('GET', path));
  await age(bucketOf(ws), '50 seconds');
  const refused = await ws.request('GET', path);
  assertError(refused, 429);
  const seconds = number(refused, 'retry-after');
  assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 10, `${seconds}`);
  assert.ok(Math.abs(number(refused, 'x-ratelimit-reset') - Date.now() / 1000 - seconds) <= 2);
  assert.equal(number(refused, 'x-ratelimit-remaining'), 0);
});

test('an answer that is not 429 has no Retry-After', async () => {
  const ws = await service.workspace();
  assert.equal((await ws.request('GET', path)).headers.get('retry-after'), null);
});

test('after 60 seconds a new window opens with the whole number', async () => {
  const ws = await service.workspace({ plan: 'starter' });
  await inParallel(Array.from({ length: 70 }), 20, () => ws.request('GET', path));
  await age(bucketOf(ws), '58 seconds');
  assertError(await ws.request('GET', path), 429);
  await age(bucketOf(ws), '2 seconds');
  const answers = await inParallel(Array.from({ length: 70 }), 20, () => ws.request('GET', path));
  assert.equal(passed(answers), 60);
});

test('refused requests do not count and do not prolong the window', async () => {
  const ws = await service.workspace({ plan: 'starter' });
  const first = await ws.request('GET', path);
  await inParallel(Array.from({ length: 100 }), 20, () => ws.request('GET', path));
  const refused = await ws.request('GET', path);
  assert.equal(number(refused, 'x-ratelimit-reset'), number(first, 'x-ratelimit-reset'));
  const [row] = await service.sql<{ used: number }>(`select used from rate_windows where bucket = $1`, [
    bucketOf(ws),
  ]);
  assert.equal(row?.used, 60);
});

test('a refused request changes nothing', async () => {
  const ws = await service.workspace({ plan: 'starter' });
  await inParallel(Array.from({ length: 60 }), 20, () => ws.request('GET', path));
  assertError(await ws.request('POST', '/contacts', { name: 'Ada' }), 429);
  const [row] = await service.sql<{ n: number }>(
    `select count(*) as n from contacts where workspace_id = $1`,
    [ws.uuid],
  );
  assert.equal(row?.n, 0);
});

test('the plan belongs to the workspace: all its keys get the new number when it changes', async () => {
  const ws = await service.workspace({ plan: 'starter' });
  await service.sql(`update workspaces set plan = 'pro' where id = $1`, [ws.uuid]);
  const { key } = await makeApiKey(ws);
  const answer = await ws.request('GET', path, undefined, { key });
  assert.equal(number(answer, 'x-ratelimit-limit'), 300);
});

const without = (forwarded: string, base = service.baseUrl, key?: string) =>
  clientFor(base)('GET', '/contacts', undefined, { key, headers: { 'x-forwarded-for': forwarded } });

test('requests without a valid key are limited to 100 a minute by client address, over two servers', async () => {
  const answers = await inParallel(Array.from({ length: 130 }), 20, (_, n) =>
    without(
      '198.51.100.1',
      n % 2 === 0 ? service.baseUrl : second.baseUrl,
      n % 3 === 0 ? 'wrong' : undefined,
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 401).length, 100);
  const refused = answers.filter(({ status }) => status === 429);
  assert.equal(refused.length, 30);
  for (const answer of refused) {
    assertError(answer, 429);
    const seconds = number(answer, 'retry-after');
    assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60);
  }
});

test('another address is not limited with it, nor is a valid key from the same address', async () => {
  await inParallel(Array.from({ length: 100 }), 20, () => without('198.51.100.2'));
  assertError(await without('198.51.100.2'), 429);
  assertError(await without('198.51.100.3'), 401);
  const { key } = await service.workspace();
  assert.equal((await without('198.51.100.2', service.baseUrl, key)).status, 200);
});

test('the window of an address ends after 60 seconds', async () => {
  await inParallel(Array.from({ length: 101 }), 20, () => without('198.51.100.4'));
  assertError(await without('198.51.100.4'), 429);
  await age('address 198.51.100.4', '60 seconds');
  assertError(await without('198.51.100.4'), 401);
});

test('the addresses of one IPv6 network are one client', async () => {
  await inParallel(Array.from({ length: 100 }), 20, (_, n) => without(`2001:db8:1:2::${n.toString(16)}`));
  assertError(await without('2001:db8:1:2:ffff::1'), 429);
  assertError(await without('2001:db8:1:3::1'), 401);
});

test('the addresses of one IPv6 network are one client also where it is written with ::', async () => {
  await inParallel(Array.from({ length: 100 }), 20, (_, n) => without(`2001:db8::${n.toString(16)}`));
  assertError(await without('2001:db8::ffff'), 429);
  assertError(await without('2001:db8:0:0:1::1'), 429);
  assertError(await without('2001:db8:0:1::1'), 401);
});

test('X-Forwarded-For is not believed unless the operator trusts a proxy', async () => {
  const direct = await startService();
  const answers = await inParallel(Array.from({ length: 110 }), 20, (_, n) =>
    without(`203.0.113.${n}`, direct.baseUrl),
  );
  assert.equal(answers.filter(({ status }) => status === 429).length, 10);
});
