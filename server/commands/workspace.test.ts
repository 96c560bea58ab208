import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cliOn } from '../../test/cli.ts';
import { createDatabase, startService } from '../../test/harness.ts';

test('workspace create prints the workspace as the interface shows it', async () => {
  const url = await createDatabase();
  const cli = cliOn(url);
  const { code, stderr, json } = await cli(
    'workspace',
    'create',
    '--name',
    'Café 株式会社',
    '--plan',
    'pro',
    '--json',
  );
  assert.equal(code, 0);
  assert.equal(stderr, '');
  assert.deepEqual(Object.keys(json), ['id', 'name', 'plan', 'created_at']);
  assert.equal(json.name, 'Café 株式会社');
  assert.equal(json.plan, 'pro');

  const { key } = (await cli('key', 'create', '--name', 'k', '--json')).json;
  const service = await startService({ url });
  const { body } = await service.request('GET', '/workspace', undefined, { key });
  assert.deepEqual(body.data, json);
});

test('workspace list gives every workspace, oldest first', async () => {
  const cli = cliOn(await createDatabase());
  assert.deepEqual((await cli('workspace', 'list', '--json')).json, { data: [] });
  const one = (await cli('workspace', 'create', '--name', 'One', '--json')).json;
  const two = (await cli('workspace', 'create', '--name', 'Two', '--json')).json;
  assert.deepEqual((await cli('workspace', 'list', '--json')).json, { data: [one, two] });
  const { stdout } = await cli('workspace', 'list');
  assert.match(stdout, /^ID +NAME +PLAN +CREATED\nws_\w+ +One +starter +\S+\nws_\w+ +Two +starter +\S+\n$/);
});

test('workspace update changes the plan, and the limit of its keys with it', async () => {
  const url = await createDatabase();
  const cli = cliOn(url);
  const made = (await cli('workspace', 'create', '--name', 'W', '--plan', 'starter', '--json')).json;
  const { key } = (await cli('key', 'create', '--name', 'k', '--json')).json;
  const updated = await cli('workspace', 'update', '--id', made.id, '--plan', 'business', '--json');
  assert.equal(updated.code, 0);
  assert.deepEqual(updated.json, { ...made, plan: 'business' });

  const service = await startService({ url });
  const { headers } = await service.request('GET', '/workspace', undefined, { key });
  assert.equal(headers.get('x-ratelimit-limit'), '1000');
});

test('a plan that does not exist is exit 2 and the valid ones are named', async () => {
  const { code, stdout, stderr } = await cliOn(await createDatabase())(
    'workspace',
    'create',
    '--name',
    'W',
    '--plan',
    'gold',
    '--json',
  );
  assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
  assert.match(stderr, /--plan.*starter, pro, business/);
});

test('a name that is blank or too long is exit 2', async () => {
  const cli = cliOn(await createDatabase());
  for (const name of ['  ', 'x'.repeat(256)]) {
    const { code, stderr } = await cli('workspace', 'create', '--name', name);
    assert.equal(code, 2);
    assert.match(stderr, /--name/);
  }
  assert.equal((await cli('workspace', 'create', '--name', '😀'.repeat(255))).code, 0);
});

test('an id that names no workspace, or could not, is exit 1 and one line', async () => {
  const cli = cliOn(await createDatabase());
  for (const id of ['ws_01kcq2zzzzzzzzzzzzzzzzzzzz', 'key_01kcq2zzzzzzzzzzzzzzzzzzzz', 'nonsense']) {
    const { code, stdout, stderr } = await cli('workspace', 'update', '--id', id, '--plan', 'pro', '--json');
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    assert.match(stderr, new RegExp(`^inbox: .*${id}.*\n$`));
  }
});
