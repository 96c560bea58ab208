import assert from 'node:assert/strict';
import test from 'node:test';
import { assertError, dataOf, inParallel, makeChannel, messagesOf, read } from '../../../test/factory.ts';
import { startService } from '../../../test/harness.ts';
import { identityHash, makeWebchat, openSession, visit, visitorWith } from '../../../test/webchat.ts';
import { toId } from '../../ids.ts';

const service = await startService();
const ws = await service.workspace();
const secret = 'a secret that the site’s server knows';
const channel = await makeWebchat(ws, { identity_secret: secret });
const other = await makeWebchat(ws);

/** Each test has its own minute: what it may ask for is another test's subject. */
const forgetRates = () => service.sql('delete from rate_windows');
test.beforeEach(forgetRates);

const user = (id: string, fields: object = {}) => ({
  user: { id, hash: identityHash(id, secret), ...fields },
});

test('a session needs nothing, and gives a token, its end and a friendly name', async () => {
  const session = dataOf(await openSession(service, channel.id), 201);
  assert.deepEqual(Object.keys(session), ['token', 'expires_at', 'name', 'identified']);
  assert.match(session.name, /^Visitor [0-9a-f]{4}$/);
  assert.equal(session.identified, false);
  assert.ok(Date.parse(session.expires_at) > Date.now() + 170 * 24 * 3_600_000);
});

test('a session that only begins leaves no trace: the contact comes with the first message', async () => {
  const before = await service.sql('select id from contacts');
  await visit(service, channel.id);
  assert.equal((await service.sql('select id from contacts')).length, before.length);
});

test('a valid token is renewed and stays the same visitor', async () => {
  const first = await visit(service, channel.id);
  await first.send('Before the reload');
  const again = await visit(service, channel.id, { token: first.token });
  assert.notEqual(again.token, first.token);
  assert.equal((await again.history()).messages[0].content, 'Before the reload');
});

test('a token that is no good gives a new visitor, not an error', async () => {
  for (const token of ['', 'nonsense', (await visit(service, other.id)).token]) {
    const visitor = await visit(service, channel.id, { token });
    assert.deepEqual((await visitor.history()).messages, []);
  }
});

test('a token is good on its own channel alone', async () => {
  const { token } = await visit(service, other.id);
  assertError(await visitorWith(service, channel.id, token).request('GET', '/messages'), 401);
});

test('a changed, cut or missing token is refused, wherever it was changed', async () => {
  const { token } = await visit(service, channel.id);
  const flip = (place: number) =>
    token.slice(0, place) + (token[place] === 'A' ? 'B' : 'A') + token.slice(place + 1);
  const bad = [
    flip(0),
    flip(18),
    flip(60),
    flip(token.length - 4),
    token.slice(0, 20),
    token.slice(0, 60),
    'x',
  ];
  for (const changed of bad) {
    const visitor = visitorWith(service, channel.id, changed);
    for (const [method, path] of [
      ['GET', '/messages'],
      ['GET', '/events'],
      ['POST', '/messages'],
    ] as const) {
      assertError(
        await visitor.request(method, path, method === 'POST' ? { content: 'Hi' } : undefined),
        401,
      );
    }
  }
  const { status, headers } = await service.request('GET', `/channels/${channel.id}/webchat/messages`);
  assert.equal(status, 401);
  assert.equal(headers.get('www-authenticate'), 'Bearer');
});

test('what else the service seals is no token: an API key neither', async () => {
  const sealed = service.ctx.vault.seal(JSON.stringify({ channelId: channel.id, until: 9e15 }));
  for (const token of [sealed.toString('base64url'), ws.key]) {
    assertError(await visitorWith(service, channel.id, token).request('GET', '/messages'), 401);
  }
});

test('a user the site vouches for is the same person in every browser', async () => {
  const one = await visit(service, channel.id, user('42', { name: 'Mia' }));
  const sent = dataOf(await one.send('From my telephone'), 201);
  const two = await visit(service, channel.id, user('42'));
  assert.deepEqual(
    (await two.history()).messages.map(({ id }: { id: string }) => id),
    [sent.id],
  );
  const [contact] = await read(ws, '/contacts?q=Mia');
  assert.equal(contact.name, 'Mia');
});

test('a hash of another id, with another secret, or of something else is refused with 403', async () => {
  const wrong = [identityHash('43', secret), identityHash('42', 'guessed'), '0'.repeat(64)];
  for (const hash of wrong) {
    assertError(await openSession(service, channel.id, { user: { id: '42', hash } }), 403);
  }
  assertError(
    await openSession(service, channel.id, { user: { id: '42', hash: 'short' } }),
    422,
    'user.hash',
  );
  assertError(await openSession(service, channel.id, { user: { id: '42' } }), 400, 'user.hash');
});

test('a channel without an identity_secret says that it cannot identify anyone', async () => {
  const { message } = assertError(await openSession(service, other.id, user('42')), 422, 'user');
  assert.match(message, /identity_secret/);
});

test('an anonymous visitor cannot take the name of a user, nor a user that of another', async () => {
  const mia = await visit(service, channel.id, user('mia'));
  await mia.send('Private');
  for (const visitor of [await visit(service, channel.id), await visit(service, channel.id, user('mia '))]) {
    assert.deepEqual((await visitor.history()).messages, []);
  }
});

test('a new identity_secret ends the sessions of users, and not those of visitors', async () => {
  const rotating = await makeWebchat(ws, { identity_secret: secret });
  const known = await visit(service, rotating.id, user('42'));
  const anonymous = await visit(service, rotating.id);
  await ws.request('PATCH', `/channels/${rotating.id}`, { settings: { identity_secret: 'another one' } });
  assertError(await known.request('GET', '/messages'), 401);
  assert.equal((await anonymous.request('GET', '/messages')).status, 200);
});

test('an e-mail address or telephone number that a browser claims finds nobody', async () => {
  const victim = await ws.request('POST', `/channels/${other.id}/inbound`, {
    from: { email: 'victim@example.com', phone: '+4915112345678', name: 'Victim' },
    content: 'My secret',
  });
  const claims = { email: 'victim@example.com', phone: '+4915112345678' };
  const visitor = await visit(service, other.id, { ...claims, from: claims });
  const answer = await visitor.request('POST', '/messages', { content: 'Hi', from: claims, ...claims });
  assert.equal(answer.status, 201);
  assert.equal((await visitor.history()).messages.length, 1);
  const all = await messagesOf(ws, victim.body.data.conversation.id);
  assert.deepEqual(
    all.map(({ content }) => content),
    ['My secret'],
  );
});

test('an unknown, malformed, archived, foreign or other kind of channel answers 404, all alike', async () => {
  const archived = await makeWebchat(ws);
  const { token } = await visit(service, archived.id);
  await ws.request('DELETE', `/channels/${archived.id}`);
  const ids = [
    archived.id,
    (await makeChannel(ws)).id,
    toId('channel', '01999999-9999-7999-8999-999999999999'),
    'nonsense',
    channel.id.slice(0, -1),
    '%00',
    '%ff',
  ];
  const texts = new Set<string>();
  for (const id of ids) {
    for (const [method, path, body] of [
      ['POST', 'session', {}],
      ['POST', 'messages', { content: 'Hi' }],
      ['GET', 'messages', undefined],
      ['GET', 'events', undefined],
    ] as const) {
      const headers = { 'x-request-id': 'same' };
      const answer = await service.request(method, `/channels/${id}/webchat/${path}`, body, {
        key: token,
        headers,
      });
      assert.equal(assertError(answer, 404).message, 'Channel not found');
      assert.equal(answer.headers.get('access-control-allow-origin'), '*', 'a page may read why');
      texts.add(answer.text);
    }
  }
  assert.equal(texts.size, 1);
});

test('a session of the wrong shape is refused by name', async () => {
  assertError(await openSession(service, channel.id, { user: 'me' }), 400, 'user');
  assertError(await openSession(service, channel.id, { token: 5 }), 400, 'token');
  assertError(await openSession(service, channel.id, user('x'.repeat(129))), 422, 'user.id');
  assertError(await openSession(service, channel.id, user('')), 422, 'user.id');
});

test('what is refused counts against the address: nobody tries out ids or tokens for long', async () => {
  const visitor = visitorWith(service, channel.id, 'guessed');
  const answers = await inParallel(Array.from({ length: 101 }), 4, () => visitor.request('GET', '/messages'));
  assert.equal(answers.filter(({ status }) => status === 401).length, 100);
  const refused = answers.find(({ status }) => status === 429)!;
  assert.ok(Number(assertError(refused, 429) && refused.headers.get('retry-after')) > 0);
  assertError(await openSession(service, 'nonsense'), 429);
  dataOf(await openSession(service, channel.id), 201);
});

test('one address may begin 30 sessions a minute, then it is told when to come back', async () => {
  for (let count = 0; count < 30; count++) dataOf(await openSession(service, channel.id), 201);
  const answer = await openSession(service, other.id);
  assertError(answer, 429);
  assert.ok(Number(answer.headers.get('retry-after')) > 0);
});
