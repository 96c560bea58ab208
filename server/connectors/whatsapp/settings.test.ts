import assert from 'node:assert/strict';
import test from 'node:test';
import { assertError, create, makeChannel, read } from '../../../test/factory.ts';
import { startService } from '../../../test/harness.ts';
import { emulatorEnv, makeWhatsapp } from '../../../test/whatsapp.ts';

const service = await startService({ env: emulatorEnv });
const ws = await service.workspace();
const secrets = { access_token: 'EAAcanary1', app_secret: 'canary2', verify_token: 'canary3' };
const { id, emulator } = await makeWhatsapp(service, ws, {
  accessToken: secrets.access_token,
  appSecret: secrets.app_secret,
  verifyToken: secrets.verify_token,
});

test('the plain settings are shown, and of the secrets only that they are set', async () => {
  const { settings } = await read(ws, `/channels/${id}`);
  assert.deepEqual(settings, {
    phone_number_id: emulator.settings.phoneNumberId,
    business_account_id: emulator.settings.businessAccountId,
    api_base_url: emulator.apiBaseUrl,
    has_access_token: true,
    has_app_secret: true,
    has_verify_token: true,
  });
});

test('no answer holds a secret, and the database holds none in the clear', async () => {
  const answers = [
    await ws.request('POST', '/channels', { type: 'whatsapp', name: 'Second', settings: secrets }),
    await ws.request('PATCH', `/channels/${id}`, { settings: secrets }),
    await ws.request('GET', `/channels/${id}`),
    await ws.request('GET', '/channels'),
  ];
  // Bytes are shown in hex there.
  const [row] = await service.sql<{ all: string }>(
    `select string_agg(to_jsonb(c)::text, ' ') as all from channels c`,
  );
  for (const secret of Object.values(secrets)) {
    for (const { text } of answers) assert.equal(text.includes(secret), false);
    assert.equal(row!.all.includes(secret), false);
    assert.equal(row!.all.includes(Buffer.from(secret).toString('hex')), false);
  }
});

test('the handshake gives the challenge back, as it is, to whoever knows the verify token', async () => {
  assert.equal(await emulator.handshake(), true);
  const query = `hub.mode=subscribe&hub.verify_token=${secrets.verify_token}&hub.challenge=%3Cb%3E1%2B1&more=1`;
  const answer = await service.request('GET', `/channels/${id}/webhook?${query}`);
  assert.equal(answer.status, 200);
  assert.equal(answer.text, '<b>1+1');
  assert.match(answer.headers.get('content-type')!, /^text\/plain/);
});

test('a handshake with another token, another mode or no challenge is refused', async () => {
  for (const query of [
    'hub.mode=subscribe&hub.verify_token=canary4&hub.challenge=1',
    'hub.mode=subscribe&hub.verify_token=&hub.challenge=1',
    'hub.mode=subscribe&hub.challenge=1',
    `hub.mode=unsubscribe&hub.verify_token=${secrets.verify_token}&hub.challenge=1`,
    `hub.mode=subscribe&hub.verify_token=${secrets.verify_token}`,
    '',
  ]) {
    assertError(await service.request('GET', `/channels/${id}/webhook?${query}`), 403);
  }
});

test('a channel without a verify token shakes hands with nobody, and without an app secret believes nobody', async () => {
  const bare = await create(ws, '/channels', { type: 'whatsapp', name: 'Bare' });
  const path = `/channels/${bare.id}/webhook`;
  assertError(
    await service.request('GET', `${path}?hub.mode=subscribe&hub.verify_token=&hub.challenge=1`),
    403,
  );
  emulator.setWebhookUrl(`${service.baseUrl}${path}`);
  assert.equal((await emulator.post(emulator.payload({}), { secret: '' })).status, 403);
  emulator.setWebhookUrl(`${service.baseUrl}/channels/${id}/webhook`);
});

test('only a live channel of a platform that calls has a webhook', async () => {
  const api = await makeChannel(ws);
  const archived = await create(ws, '/channels', { type: 'whatsapp', name: 'Gone', settings: secrets });
  await ws.request('DELETE', `/channels/${archived.id}`);
  for (const other of [api.id, archived.id, 'ch_nonsense', 'nonsense']) {
    assertError(await service.request('GET', `/channels/${other}/webhook`), 404);
    assertError(await service.request('POST', `/channels/${other}/webhook`, {}), 404);
  }
});
