import assert from 'node:assert/strict';
import test from 'node:test';
import { toId } from '../../server/ids.ts';
import { assertError, create, inParallel, makeWebhook, read, webhookUrl } from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const missing = toId('webhook', '01999999-9999-7999-8999-999999999999');
const six = [
  'conversation.created',
  'conversation.updated',
  'conversation.resolved',
  'message.created',
  'contact.created',
  'contact.updated',
];

/** A workspace holds 20 webhooks: what registers one has a workspace of its own. */
const post = async (body: unknown) => (await service.workspace()).request('POST', '/webhooks', body);

test('POST /webhooks registers a webhook: id, url, events, secret, created_at', async () => {
  const own = await service.workspace();
  const webhook = await create(own, '/webhooks', { url: webhookUrl, events: ['message.created'] });
  const { id, secret, created_at, ...rest } = webhook;
  assert.deepEqual(rest, { url: webhookUrl, events: ['message.created'], failing_since: null });
  for (const text of [id, secret, created_at]) assert.equal(typeof text, 'string');
});

for (const event of six) {
  test(`POST /webhooks takes the event ${event}`, async () => {
    assert.equal((await post({ url: webhookUrl, events: [event] })).status, 201);
  });
}

test('POST /webhooks takes all six events, each once', async () => {
  const { body } = await post({ url: webhookUrl, events: [...six, ...six] });
  assert.deepEqual(body.data.events, six);
});

test('the secret is long, random and another for each webhook', async () => {
  const own = await service.workspace();
  const [one, two] = [await makeWebhook(own), await makeWebhook(own)];
  assert.notEqual(one.secret, two.secret);
  assert.match(one.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
});

test('the secret is shown once: neither GET, the list nor PATCH shows it again', async () => {
  const own = await service.workspace();
  const { id, secret } = await makeWebhook(own);
  const answers = [
    await own.request('GET', `/webhooks/${id}`),
    await own.request('GET', '/webhooks'),
    await own.request('PATCH', `/webhooks/${id}`, { events: ['contact.created'] }),
    await own.request('DELETE', `/webhooks/${id}`),
  ];
  for (const { status, text } of answers) {
    assert.equal(status, 200);
    assert.equal(text.includes(secret), false);
    assert.equal(text.includes('"secret"'), false);
  }
});

test('POST /webhooks/{id}/rotate_secret answers another secret, once, and nothing else changes', async () => {
  const own = await service.workspace();
  const { secret: old, ...webhook } = await makeWebhook(own);
  const { secret, ...rotated } = await create(own, `/webhooks/${webhook.id}/rotate_secret`, undefined);
  assert.deepEqual(rotated, webhook);
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.notEqual(secret, old);
  const { text } = await own.request('GET', `/webhooks/${webhook.id}`);
  for (const hidden of [secret, old]) assert.equal(text.includes(hidden), false);
});

test('the secret is not stored in the clear', async () => {
  const { secret } = await makeWebhook(await service.workspace());
  const rows = await service.sql<{ row: string }>(`select to_jsonb(w)::text as row from webhooks w`);
  const dump = rows.map(({ row }) => row).join();
  for (const clear of [secret, secret.slice('whsec_'.length)]) {
    assert.equal(dump.includes(clear), false);
    assert.equal(dump.includes(Buffer.from(clear).toString('hex')), false);
  }
  assert.equal(dump.includes(Buffer.from(secret.slice('whsec_'.length), 'base64').toString('hex')), false);
});

const refused: [why: string, body: Record<string, unknown>, status: number, field: string][] = [
  ['without url', { url: undefined }, 400, 'url'],
  ['with url null', { url: null }, 400, 'url'],
  ['with a url that is no string', { url: 7 }, 400, 'url'],
  ['with http', { url: 'http://93.184.215.14/hook' }, 422, 'url'],
  ['with another scheme', { url: 'ftp://93.184.215.14/hook' }, 422, 'url'],
  ['with no URL', { url: 'example.com/hook' }, 422, 'url'],
  ['with an empty url', { url: '' }, 422, 'url'],
  ['with loopback', { url: 'https://127.0.0.1/hook' }, 422, 'url'],
  ['with localhost', { url: 'https://localhost/hook' }, 422, 'url'],
  ['with a private address', { url: 'https://10.1.2.3/hook' }, 422, 'url'],
  ['with a private address in another spelling', { url: 'https://0x0a010203/hook' }, 422, 'url'],
  ['with the metadata address', { url: 'https://169.254.169.254/latest' }, 422, 'url'],
  ['with IPv6 loopback', { url: 'https://[::1]/hook' }, 422, 'url'],
  ['with loopback mapped into IPv6', { url: 'https://[::ffff:127.0.0.1]/hook' }, 422, 'url'],
  ['with blanks around the URL', { url: ' https://93.184.215.14/hook\n' }, 422, 'url'],
  ['with a line break within the URL', { url: 'https://93.184.215.14/ho\nok' }, 422, 'url'],
  ['without the slashes of a URL', { url: 'https:93.184.215.14' }, 422, 'url'],
  ['with backslashes for slashes', { url: 'https:\\\\93.184.215.14\\a' }, 422, 'url'],
  ['with port 0', { url: 'https://93.184.215.14:0/hook' }, 422, 'url'],
  ['without events', { events: undefined }, 400, 'events'],
  ['with events null', { events: null }, 400, 'events'],
  ['with events that is a string', { events: 'message.created' }, 400, 'events'],
  ['with an event that is no string', { events: [1] }, 400, 'events.0'],
  ['with an event outside the six', { events: ['message.created', 'message.deleted'] }, 422, 'events.1'],
  ['with a wildcard event', { events: ['*'] }, 422, 'events.0'],
  ['with no event', { events: [] }, 422, 'events'],
];

const target = await makeWebhook(ws);
const { secret: _, ...unchanged } = target;

for (const [why, body, status, field] of refused) {
  test(`POST /webhooks ${why} answers ${status}, naming ${field}`, async () => {
    assertError(await post({ url: webhookUrl, events: ['message.created'], ...body }), status, field);
  });
  if (why.startsWith('without')) continue; // PATCH may leave both out
  test(`PATCH /webhooks/{id} ${why} answers ${status} and changes nothing`, async () => {
    assertError(await ws.request('PATCH', `/webhooks/${target.id}`, body), status, field);
    assert.deepEqual(await read(ws, `/webhooks/${target.id}`), unchanged);
  });
}

test('GET /webhooks lists the webhooks, newest first, with meta', async () => {
  const own = await service.workspace();
  const made: string[] = [];
  for (let n = 0; n < 3; n++) made.push((await makeWebhook(own)).id);
  const { body } = await own.request('GET', '/webhooks?per_page=2');
  assert.deepEqual(
    body.data.map(({ id }: { id: string }) => id),
    made.toReversed().slice(0, 2),
  );
  assert.deepEqual(body.meta, { total: 3, page: 1, per_page: 2, total_pages: 2 });
});

test('PATCH /webhooks/{id} changes only what it names; events replaces the list', async () => {
  const own = await service.workspace();
  const { secret: _, ...before } = await makeWebhook(own, { events: ['message.created', 'contact.created'] });
  const path = `/webhooks/${before.id}`;
  const events = await own.request('PATCH', path, { events: ['contact.updated'] });
  assert.deepEqual(events.body, { data: { ...before, events: ['contact.updated'] } });
  const url = await own.request('PATCH', path, { url: `${webhookUrl}/two` });
  assert.deepEqual(url.body, { data: { ...before, events: ['contact.updated'], url: `${webhookUrl}/two` } });
  assert.deepEqual(await read(own, path), url.body.data);
});

test('DELETE /webhooks/{id} deletes: it is gone from GET, from the list and for a second DELETE', async () => {
  const own = await service.workspace();
  const { id } = await makeWebhook(own);
  assert.deepEqual((await own.request('DELETE', `/webhooks/${id}`)).body, { data: { id, deleted: true } });
  assertError(await own.request('GET', `/webhooks/${id}`), 404);
  assertError(await own.request('PATCH', `/webhooks/${id}`, {}), 404);
  assertError(await own.request('DELETE', `/webhooks/${id}`), 404);
  assert.deepEqual(await read(own, '/webhooks'), []);
});

test('a webhook that is not there answers 404 and names the webhook', async () => {
  for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as [string, unknown][]) {
    const answer = await ws.request(method, `/webhooks/${missing}`, body);
    assert.equal(assertError(answer, 404).message, 'Webhook not found');
  }
});

test('a workspace holds 20 webhooks: of 30 registered at once exactly 20 are, the others answer 422', async () => {
  const own = await service.workspace();
  const statuses = await inParallel(Array.from({ length: 30 }), 15, async () => {
    const { status } = await own.request('POST', '/webhooks', {
      url: webhookUrl,
      events: ['message.created'],
    });
    return status;
  });
  assert.equal(statuses.filter((status) => status === 201).length, 20);
  assert.equal(statuses.filter((status) => status === 422).length, 10);
  const { body } = await own.request('GET', '/webhooks');
  assert.equal(body.meta.total, 20);
});

test('deleting a webhook makes room for another', async () => {
  const own = await service.workspace();
  const made = await inParallel(Array.from({ length: 20 }), 10, () => makeWebhook(own));
  assertError(await own.request('POST', '/webhooks', { url: webhookUrl, events: ['message.created'] }), 422);
  await own.request('DELETE', `/webhooks/${made[0].id}`);
  await makeWebhook(own);
});

test('where the operator allows http targets, an http URL is taken', async () => {
  const trial = await startService({ env: { INBOX_ALLOW_HTTP_WEBHOOKS: 'on' } });
  const own = await trial.workspace();
  const { url } = await makeWebhook(own, { url: 'http://93.184.215.14/hook' });
  assert.equal(url, 'http://93.184.215.14/hook');
});

test('where the operator opens a private network, its addresses are taken', async () => {
  const intranet = await startService({ env: { INBOX_EGRESS_ALLOW: '10.0.0.0/8' } });
  const own = await intranet.workspace();
  assert.equal((await makeWebhook(own, { url: 'https://10.1.2.3/hook' })).url, 'https://10.1.2.3/hook');
  const elsewhere = { url: 'https://192.168.1.1/hook', events: ['message.created'] };
  assertError(await own.request('POST', '/webhooks', elsewhere), 422, 'url');
});
