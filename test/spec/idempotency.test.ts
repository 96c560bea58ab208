import assert from 'node:assert/strict';
import test from 'node:test';
import { fromId } from '../../server/ids.ts';
import {
  assertError,
  eventsDuring,
  eventually,
  inParallel,
  makeChannel,
  makeContact,
  makeConversation,
  messagesOf,
  read,
  webhookUrl,
} from '../factory.ts';
import { clientFor, startService, type Workspace } from '../harness.ts';

const service = await startService();
const second = await startService({ url: service.databaseUrl });
const ws = await service.workspace();
let keys = 0;

const newKey = () => `test key ${keys++}`;
const post = (key: string, path: string, body: unknown, who: Pick<Workspace, 'request'> = ws) =>
  who.request('POST', path, body, { headers: { 'idempotency-key': key } });
const age = (key: string, by: string) =>
  service.sql(`update idempotency_keys set created_at = created_at - $2::interval where key = $1`, [key, by]);
const contact = await makeContact(ws);
const channel = await makeChannel(ws);
const conversation = await makeConversation(ws, { contact_id: contact.id, channel_id: channel.id });

const everyPost: [path: string, body: object][] = [
  ['/contacts', { name: 'Ada' }],
  ['/conversations', { contact_id: contact.id, channel_id: channel.id, message: { content: 'Hi' } }],
  [`/conversations/${conversation.id}/messages`, { content: 'Hi' }],
  [`/channels/${channel.id}/inbound`, { from: { external_id: 'v' }, content: 'Hi' }],
  ['/webhooks', { url: webhookUrl, events: ['message.created'] }],
  ['/channels', { type: 'api', name: 'Shop' }],
  ['/agents', { name: 'Grace' }],
  ['/teams', { name: 'Support' }],
  ['/templates', { name: 'hi', body: 'Hi' }],
  ['/labels', { name: 'vip' }],
  ['/custom_attributes', { key: 'size', type: 'number' }],
  ['/api_keys', { name: 'Another' }],
];

for (const [path, body] of everyPost) {
  test(`POST ${path.replace(/_[0-9a-z]{26}/, '_…')} repeated with the same key replays the first answer, byte for byte`, async () => {
    const key = newKey();
    const first = await post(key, path, body);
    assert.equal(first.status, 201, first.text);
    assert.equal(first.headers.get('idempotent-replayed'), null);
    const events = await eventsDuring(service, ws, async () => {
      const replay = await post(key, path, body);
      assert.equal(replay.status, 201);
      assert.equal(replay.text, first.text);
      assert.equal(replay.headers.get('idempotent-replayed'), 'true');
      assert.equal(replay.headers.get('content-type'), first.headers.get('content-type'));
    });
    assert.deepEqual(events, []);
  });
}

test('a replay creates nothing', async () => {
  const own = await service.workspace();
  for (let n = 0; n < 3; n++) await post('once', '/contacts', { name: 'Ada' }, own);
  assert.equal((await read(own, '/contacts')).length, 1);
});

test('POST /webhooks replays the secret', async () => {
  const body = { url: webhookUrl, events: ['message.created'] };
  const key = newKey();
  const [first, replay] = [await post(key, '/webhooks', body), await post(key, '/webhooks', body)];
  assert.equal(replay.body.data.secret, first.body.data.secret);
});

test('without an Idempotency-Key the same POST twice creates two', async () => {
  const [one, two] = [await makeContact(ws), await makeContact(ws)];
  assert.notEqual(one.id, two.id);
});

test('another key creates another', async () => {
  const [one, two] = [
    await post(newKey(), '/contacts', { name: 'Ada' }),
    await post(newKey(), '/contacts', { name: 'Ada' }),
  ];
  assert.notEqual(one.body.data.id, two.body.data.id);
});

test('the same key with another body answers 422 and changes nothing', async () => {
  const own = await service.workspace();
  await post('reused', '/contacts', { name: 'Ada' }, own);
  assertError(await post('reused', '/contacts', { name: 'Grace' }, own), 422, 'Idempotency-Key');
  assert.equal((await read(own, '/contacts')).length, 1);
});

test('the same key and body on another path answers 422', async () => {
  const key = newKey();
  await post(key, '/teams', { name: 'Ada' });
  assertError(await post(key, '/contacts', { name: 'Ada' }), 422, 'Idempotency-Key');
});

test('a key belongs to an API key: another one, of the same or another workspace, may use it', async () => {
  const other = await service.workspace();
  const colleague = { request: clientFor(service.baseUrl, await ws.makeKey()) };
  const key = newKey();
  const first = await post(key, '/contacts', { name: 'Ada' });
  for (const who of [other, colleague]) {
    const answer = await post(key, '/contacts', { name: 'Other' }, who);
    assert.equal(answer.status, 201);
    assert.notEqual(answer.body.data.id, first.body.data.id);
    assert.equal(answer.headers.get('idempotent-replayed'), null);
  }
});

test('while the first is still running the same key answers 400, and replays once it is done', async () => {
  const { id } = await makeConversation(ws);
  const key = newKey();
  const path = `/conversations/${id}/messages`;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: held, resolve: hold } = Promise.withResolvers<void>();
  const holder = service.ctx.db.transaction(async (tx) => {
    await tx.queryText(`select from conversations where id = $1 for update`, [fromId('conversation', id)]);
    hold();
    await released;
  });
  await held;
  const first = post(key, path, { content: 'Hi' });
  await eventually(
    3_000,
    () =>
      service.sql(
        `select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
      ),
    (locks) => locks.length > 0,
  );
  const elsewhere = { request: clientFor(second.baseUrl, ws.key) };
  assertError(await post(key, path, { content: 'Hi' }), 400);
  assertError(await post(key, path, { content: 'Hi' }, elsewhere), 400);
  assertError(await post(key, path, { content: 'Other' }, elsewhere), 400);
  release();
  await holder;
  const done = await first;
  assert.equal(done.status, 201);
  assert.equal((await post(key, path, { content: 'Hi' }, elsewhere)).text, done.text);
  assert.equal((await messagesOf(ws, id)).length, 1);
});

test('50 of the same at once, over two servers, create one; the others replay it or answer 400', async () => {
  const own = await service.workspace();
  const clients = [own, { request: clientFor(second.baseUrl, own.key) }];
  const answers = await inParallel(Array.from({ length: 50 }), 50, (_, n) =>
    post('stampede', '/contacts', { name: 'Ada' }, clients[n % 2]),
  );
  assert.equal((await read(own, '/contacts')).length, 1);
  const created = answers.filter(({ status }) => status === 201);
  assert.ok(created.length >= 1);
  assert.equal(new Set(created.map(({ text }) => text)).size, 1);
  assert.equal(created.filter(({ headers }) => headers.get('idempotent-replayed') === null).length, 1);
  for (const answer of answers) if (answer.status !== 201) assertError(answer, 400);
});

test('an answer is kept for 24 hours', async () => {
  const key = newKey();
  const first = await post(key, '/contacts', { name: 'Ada' });
  await age(key, '23 hours 59 minutes');
  assert.equal((await post(key, '/contacts', { name: 'Ada' })).text, first.text);
});

test('after 24 hours the key is free: the request runs anew, with any body', async () => {
  const key = newKey();
  const first = await post(key, '/contacts', { name: 'Ada' });
  await age(key, '24 hours 1 second');
  const again = await post(key, '/contacts', { name: 'Grace' });
  assert.equal(again.status, 201);
  assert.notEqual(again.body.data.id, first.body.data.id);
  assert.equal(again.headers.get('idempotent-replayed'), null);
  const replay = await post(key, '/contacts', { name: 'Grace' });
  assert.equal(replay.text, again.text);
});

test('a refused request leaves no record: the same key works with a mended body', async () => {
  const key = newKey();
  assertError(await post(key, '/contacts', { name: '' }), 422);
  assertError(await post(key, '/contacts', {}), 400);
  assertError(await post(key, '/conversations', { contact_id: 'x', channel_id: 'y' }), 422);
  assert.equal((await post(key, '/contacts', { name: 'Ada' })).status, 201);
});

test('the record is written in the same transaction as the change', async () => {
  const key = newKey();
  const { body } = await post(key, '/contacts', { name: 'Ada' });
  const [row] = await service.sql<{ together: boolean }>(
    `select i.xmin = c.xmin as together from idempotency_keys i, contacts c where i.key = $1 and c.id = $2`,
    [key, fromId('contact', body.data.id)],
  );
  assert.equal(row?.together, true);
});

test('stored answers are encrypted: neither a secret nor a name is in the table', async () => {
  const key = newKey();
  const webhook = { url: webhookUrl, events: ['message.created'] };
  const { secret } = (await post(`${key} a`, '/webhooks', webhook)).body.data;
  const apiKey = (await post(`${key} b`, '/api_keys', { name: 'Canary key' })).body.data.key;
  await post(`${key} c`, '/contacts', { name: 'Canary contact' });
  const rows = await service.sql<{ row: string }>(`select to_jsonb(i)::text as row from idempotency_keys i`);
  const dump = rows.map(({ row }) => row).join();
  for (const clear of [secret, apiKey, 'Canary key', 'Canary contact']) {
    assert.equal(dump.includes(clear), false);
    assert.equal(dump.includes(Buffer.from(clear).toString('hex')), false);
  }
});

for (const [why, key] of [
  ['empty', ''],
  ['longer than 255 characters', 'x'.repeat(256)],
  ['with characters outside ASCII', 'caf\u00e9'],
]) {
  test(`an Idempotency-Key ${why} answers 400 and creates nothing`, async () => {
    const own = await service.workspace();
    assertError(await post(key!, '/contacts', { name: 'Ada' }, own), 400);
    assert.deepEqual(await read(own, '/contacts'), []);
  });
}

test('a repeated inbound message replays its own status', async () => {
  const body = { from: { external_id: 'v' }, content: 'Hi', external_id: 'once' };
  const path = `/channels/${channel.id}/inbound`;
  await ws.request('POST', path, body);
  const key = newKey();
  assert.equal((await post(key, path, body)).status, 200);
  const replay = await post(key, path, body);
  assert.equal(replay.status, 200);
  assert.equal(replay.headers.get('idempotent-replayed'), 'true');
});
