import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService, type Workspace } from '../../test/harness.ts';
import { keepsSettingsPromises } from '../../test/settings.ts';
import { openSecrets } from './settings.ts';

const service = await startService();

keepsSettingsPromises(service, {
  kind: 'channel',
  path: '/channels',
  table: 'channels',
  noun: 'Channel',
  textField: 'name',
  body: (n) => ({ type: 'api', name: `Channel ${n}` }),
  change: { name: 'Renamed', after_resolved: 'new' },
});

const post = (ws: Workspace, fields: object) =>
  ws.request('POST', '/channels', { type: 'api', name: 'C', ...fields });

async function storedSecrets(ws: Workspace) {
  const [row] = await service.sql<{ sealed_settings: Buffer | null; text: string }>(
    'select sealed_settings, to_jsonb(c)::text as text from channels c where workspace_id = $1',
    [ws.uuid],
  );
  return {
    opened: openSecrets(service.ctx.vault, row!.sealed_settings),
    sealed: row!.sealed_settings,
    text: row!.text,
  };
}

test('a channel reopens resolved conversations unless told', async () => {
  const ws = await service.workspace();
  assert.equal((await post(ws, {})).body.data.after_resolved, 'reopen');
  assert.equal((await post(ws, { after_resolved: 'new' })).body.data.after_resolved, 'new');
  assert.equal((await post(ws, { after_resolved: 'never' })).status, 400);
});

test('a type is required and one of three, else 400', async () => {
  const ws = await service.workspace();
  for (const type of [undefined, 'email', 'toString', 5])
    assert.equal((await post(ws, { type })).status, 400);
  for (const type of ['api', 'whatsapp', 'webchat']) {
    const made = await post(ws, { type });
    assert.equal(made.status, 201);
    assert.equal(made.body.data.type, type);
  }
});

test('the type of a channel cannot change', async () => {
  const ws = await service.workspace();
  const path = `/channels/${(await post(ws, {})).body.data.id}`;
  const answer = await ws.request('PATCH', path, { type: 'webchat' });
  assert.equal(answer.status, 422);
  assert.equal(answer.body.error.details[0].field, 'type');
  assert.equal((await ws.request('PATCH', path, { type: 'email' })).status, 400);
});

test('settings show every setting of the type, null where unset, and of secrets only whether they are set', async () => {
  const ws = await service.workspace();
  assert.deepEqual((await post(ws, {})).body.data.settings, { callback_url: null, has_secret: false });
  const api = await post(ws, {
    settings: { callback_url: 'https://93.184.215.14/in', secret: 'signing secret' },
  });
  assert.deepEqual(api.body.data.settings, { callback_url: 'https://93.184.215.14/in', has_secret: true });
  const whatsapp = await post(ws, {
    type: 'whatsapp',
    settings: {
      phone_number_id: '123',
      access_token: 'token',
      verify_token: 'verify',
      callback_url: 'https://93.184.215.14',
    },
  });
  assert.deepEqual(whatsapp.body.data.settings, {
    phone_number_id: '123',
    business_account_id: null,
    api_base_url: null,
    has_access_token: true,
    has_app_secret: false,
    has_verify_token: true,
  });
  const webchat = await post(ws, { type: 'webchat', settings: { allowed_origins: ['https://example.com'] } });
  assert.deepEqual(webchat.body.data.settings, {
    allowed_origins: ['https://example.com'],
    has_identity_secret: false,
  });
});

test('a secret is in no answer and not readable in the database', async () => {
  const ws = await service.workspace();
  const secret = 'a very secret secret';
  const made = await post(ws, { settings: { secret } }).then(({ body, text }) => ({ ...body.data, text }));
  const path = `/channels/${made.id}`;
  const answers = [
    made.text,
    (await ws.request('GET', path)).text,
    (await ws.request('GET', '/channels')).text,
    (await ws.request('PATCH', path, { name: 'Renamed' })).text,
  ];
  assert.equal(answers.join().includes(secret), false);
  const stored = await storedSecrets(ws);
  assert.equal(stored.text.includes(secret), false);
  assert.equal(stored.sealed!.includes(secret), false);
  assert.deepEqual(stored.opened, { secret });
});

test('PATCH changes the settings it names, null removes one, the rest stay', async () => {
  const ws = await service.workspace();
  const settings = { phone_number_id: '1', business_account_id: '2', access_token: 'a', app_secret: 'b' };
  const path = `/channels/${(await post(ws, { type: 'whatsapp', settings })).body.data.id}`;
  const patch = { phone_number_id: '9', business_account_id: null, app_secret: null, verify_token: 'c' };
  const changed = await ws.request('PATCH', path, { settings: patch });
  assert.equal(changed.status, 200);
  assert.deepEqual(changed.body.data.settings, {
    phone_number_id: '9',
    business_account_id: null,
    api_base_url: null,
    has_access_token: true,
    has_app_secret: false,
    has_verify_token: true,
  });
  assert.deepEqual((await storedSecrets(ws)).opened, { access_token: 'a', verify_token: 'c' });
  const back = await ws.request('PATCH', path, { settings: changed.body.data.settings });
  assert.deepEqual(back.body, changed.body, 'what was read can be sent back');
  await ws.request('PATCH', path, { settings: { access_token: null, verify_token: null } });
  assert.equal((await storedSecrets(ws)).sealed, null);
});

test('two requests at once that name different settings both count', async () => {
  const ws = await service.workspace();
  const path = `/channels/${(await post(ws, { type: 'whatsapp' })).body.data.id}`;
  const names = ['phone_number_id', 'business_account_id', 'access_token', 'app_secret', 'verify_token'];
  const answers = await Promise.all(
    names.map((name) => ws.request('PATCH', path, { settings: { [name]: name } })),
  );
  assert.ok(answers.every(({ status }) => status === 200));
  const { settings } = (await ws.request('GET', path)).body.data;
  assert.equal(settings.phone_number_id, 'phone_number_id');
  assert.equal(settings.business_account_id, 'business_account_id');
  assert.deepEqual(Object.keys((await storedSecrets(ws)).opened).toSorted(), [
    'access_token',
    'app_secret',
    'verify_token',
  ]);
});

test('settings of the wrong JSON type are 400; unknown ones are ignored', async () => {
  const ws = await service.workspace();
  for (const settings of [
    'text',
    [],
    null,
    { callback_url: 5 },
    { secret: true },
    { allowed_origins: 'https://example.com' },
    { allowed_origins: [5] },
  ]) {
    assert.equal((await post(ws, { settings })).status, 400, JSON.stringify(settings));
  }
  const made = await post(ws, {
    settings: { colour: 'red', phone_number_id: '1', __proto__: null, constructor: 'x' },
  });
  assert.equal(made.status, 201);
  assert.deepEqual(made.body.data.settings, { callback_url: null, has_secret: false });
});

test('an empty setting is 422: null is how one is removed', async () => {
  const ws = await service.workspace();
  const answer = await post(ws, { settings: { secret: '' } });
  assert.equal(answer.status, 422);
  assert.equal(answer.body.error.details[0].field, 'settings.secret');
});

const noTargets = [
  'http://1.1.1.1',
  'ftp://1.1.1.1',
  'example.com',
  'https://',
  'https://user:pass@1.1.1.1',
  'https://127.0.0.1',
];

test('callback_url and api_base_url must be HTTPS URLs without credentials that lead to public addresses, else 422', async () => {
  const ws = await service.workspace();
  const path = `/channels/${(await post(ws, {})).body.data.id}`;
  for (const url of noTargets) {
    for (const name of ['callback_url', 'api_base_url']) {
      for (const answer of [
        await post(ws, { settings: { [name]: url } }),
        await ws.request('PATCH', path, { settings: { [name]: url } }),
      ]) {
        assert.equal(answer.status, 422, url);
        assert.equal(answer.body.error.details[0].field, `settings.${name}`);
      }
    }
  }
});

test('allowed_origins must be origins, else 422', async () => {
  const ws = await service.workspace();
  const withOrigins = (...allowed_origins: string[]) =>
    post(ws, { type: 'webchat', settings: { allowed_origins } });
  for (const origin of [
    '*',
    'example.com',
    'https://example.com/',
    'https://example.com/page',
    'file://',
    'null',
  ]) {
    const answer = await withOrigins('https://good.example', origin);
    assert.equal(answer.status, 422, origin);
    assert.equal(answer.body.error.details[0].field, 'settings.allowed_origins.1');
  }
  assert.equal((await withOrigins('https://example.com', 'http://localhost:8080')).status, 201);
  assert.equal(
    (await withOrigins(...Array.from({ length: 51 }, (_, n) => `https://${n}.example`))).status,
    422,
  );
});

test('where http targets are allowed, callback_url may be one', async () => {
  const trial = await startService({
    env: { INBOX_ALLOW_HTTP_WEBHOOKS: 'on', INBOX_EGRESS_ALLOW: '127.0.0.0/8' },
  });
  const made = await post(await trial.workspace(), {
    settings: { callback_url: 'http://localhost:9000/in' },
  });
  assert.equal(made.status, 201);
});
