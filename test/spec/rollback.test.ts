import assert from 'node:assert/strict';
import test from 'node:test';
import {
  assertError,
  eventsDuring,
  makeChannel,
  makeContact,
  makeConversation,
  messagesOf,
  read,
} from '../factory.ts';
import { startService } from '../harness.ts';

/** A database that refuses at the last moment, at commit, whatever mentions this word. */
const service = await startService();
const ws = await service.workspace();
const poison = 'poison';

await service.sql(`create function refuse() returns trigger language plpgsql as $$
  begin
    if to_jsonb(new)::text like '%${poison}%' then raise exception 'refused, with an internal detail'; end if;
    return null;
  end $$`);
for (const table of ['contacts', 'messages']) {
  await service.sql(`create constraint trigger refuse_at_commit after insert or update on ${table}
    deferrable initially deferred for each row execute function refuse()`);
}
const channel = await makeChannel(ws);
const contact = await makeContact(ws);

async function failsWithout(trace: () => Promise<unknown>, method: string, path: string, body: unknown) {
  const before = await trace();
  const events = await eventsDuring(service, ws, async () => {
    const answer = await ws.request(method, path, body, {
      headers: { 'idempotency-key': `${method} ${path}` },
    });
    assertError(answer, 500);
    assert.doesNotMatch(answer.text, /internal detail|refuse/);
  });
  assert.deepEqual(events, []);
  assert.deepEqual(await trace(), before);
}

test('a contact that is rolled back answers 500 and raises nothing', () =>
  failsWithout(() => read(ws, '/contacts'), 'POST', '/contacts', { name: poison }));

test('a change of a contact that is rolled back answers 500 and raises nothing', () =>
  failsWithout(() => read(ws, '/contacts'), 'PUT', `/contacts/${contact.id}`, { name: poison }));

test('a conversation whose message is rolled back is not there and raises nothing', () =>
  failsWithout(() => read(ws, '/conversations'), 'POST', '/conversations', {
    contact_id: contact.id,
    channel_id: channel.id,
    message: { content: poison },
  }));

test('a message that is rolled back is not there, raises nothing and leaves updated_at', async () => {
  const { id } = await makeConversation(ws);
  const trace = async () => [await messagesOf(ws, id), await read(ws, `/conversations/${id}`)];
  await failsWithout(trace, 'POST', `/conversations/${id}/messages`, { content: poison });
});

test('a change whose activity message is rolled back is not there and raises nothing', async () => {
  const { id } = await makeConversation(ws);
  const trace = async () => [await messagesOf(ws, id), await read(ws, `/conversations/${id}`)];
  await failsWithout(trace, 'PATCH', `/conversations/${id}`, { labels: [poison], status: 'resolved' });
});

test('a received message that is rolled back leaves no contact and no conversation', () =>
  failsWithout(
    async () => [await read(ws, '/contacts'), await read(ws, '/conversations')],
    'POST',
    `/channels/${channel.id}/inbound`,
    { from: { external_id: 'someone' }, content: poison },
  ));

test('totals do not count what was rolled back', async () => {
  for (const [path, table] of [
    ['/contacts', 'contacts'],
    ['/conversations', 'conversations'],
  ]) {
    const [row] = await service.sql<{ n: number }>(
      `select count(*) as n from ${table} where workspace_id = $1`,
      [ws.uuid],
    );
    assert.equal((await ws.request('GET', path!)).body.meta.total, row?.n);
  }
});

test('an Idempotency-Key whose request was rolled back is free again', async () => {
  const headers = { 'idempotency-key': 'again' };
  assertError(await ws.request('POST', '/contacts', { name: poison }, { headers }), 500);
  const second = await ws.request('POST', '/contacts', { name: 'Ada' }, { headers });
  assert.equal(second.status, 201);
  assert.equal(second.headers.get('idempotent-replayed'), null);
});
