import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cliOn } from '../../test/cli.ts';
import { createDatabase, startService } from '../../test/harness.ts';

test('agent create prints the agent as the interface shows it', async () => {
  const service = await startService();
  const workspace = await service.workspace();
  const { code, stderr, json } = await cliOn(service.databaseUrl)(
    'agent',
    'create',
    '--workspace',
    workspace.id,
    '--name',
    'Ada',
    '--email',
    'ada@example.com',
    '--role',
    'admin',
    '--json',
  );
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const { body } = await workspace.request('GET', `/agents/${json.id}`);
  assert.deepEqual(json, body.data);
  assert.equal(json.role, 'admin');
});

test('without --email and --role an agent has no address and is an agent', async () => {
  const cli = cliOn(await createDatabase());
  await cli('workspace', 'create', '--name', 'W');
  const { json } = await cli('agent', 'create', '--name', 'Ada', '--json');
  assert.equal(json.email, null);
  assert.equal(json.role, 'agent');
});

test('a role that does not exist or a malformed address is exit 2; an address taken is exit 1', async () => {
  const cli = cliOn(await createDatabase());
  await cli('workspace', 'create', '--name', 'W');
  const role = await cli('agent', 'create', '--name', 'Ada', '--role', 'boss');
  assert.equal(role.code, 2);
  assert.match(role.stderr, /--role.*agent, admin/);
  const email = await cli('agent', 'create', '--name', 'Ada', '--email', 'ada');
  assert.equal(email.code, 2);
  assert.match(email.stderr, /--email/);
  assert.equal((await cli('agent', 'create', '--name', 'Ada', '--email', 'ada@example.com')).code, 0);
  const taken = await cli('agent', 'create', '--name', 'Ada', '--email', 'ADA@example.com', '--json');
  assert.deepEqual({ code: taken.code, stdout: taken.stdout }, { code: 1, stdout: '' });
  assert.match(taken.stderr, /another agent/);
});
