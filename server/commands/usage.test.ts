import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inbox } from '../../test/cli.ts';
import { createDatabase } from '../../test/harness.ts';

const commands = [
  ['serve'],
  ['migrate'],
  ['workspace', 'create'],
  ['workspace', 'update'],
  ['workspace', 'list'],
  ['key', 'create'],
  ['key', 'list'],
  ['key', 'revoke'],
  ['agent', 'create'],
  ['seed'],
  ['doctor'],
  ['openapi'],
];

test('every command explains itself, with --json and an example, and needs no environment for it', async () => {
  await Promise.all(
    commands.map(async (command) => {
      const { code, stdout, stderr } = await inbox([...command, '--help'], {});
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      assert.match(stdout, /--json/);
      assert.match(stdout, new RegExp(`Example:\n  npm run --silent inbox -- ${command.join(' ')}`));
    }),
  );
});

test('an unknown command or option is wrong usage: exit 2, one line on stderr, nothing on stdout', async () => {
  for (const args of [
    ['workspaces'],
    ['key', 'crate'],
    ['doctor', '--jsn'],
    ['workspace', 'create', '--json'],
  ]) {
    const { code, stdout, stderr } = await inbox(args, {});
    assert.equal(code, 2);
    assert.equal(stdout, '');
    assert.match(stderr, /^inbox: (unknown|required) .*/);
  }
});

test('without a command the help appears and the exit code is 2', async () => {
  const { code, stderr } = await inbox([], {});
  assert.equal(code, 2);
  assert.match(stderr, /Usage: inbox/);
});

test('a bad environment is exit 2 and one line that names the variable', async () => {
  const { code, stdout, stderr } = await inbox(['workspace', 'list', '--json'], {
    DATABASE_URL: 'postgresql://localhost/inbox',
  });
  assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
  assert.match(stderr, /^inbox: INBOX_SECRET_KEY is required.*\n$/);
});

test('a database that cannot be reached is exit 1 and one line', async () => {
  const nowhere = {
    DATABASE_URL: 'postgresql://inbox@127.0.0.1:1/inbox',
    INBOX_SECRET_KEY: 'a secret key of thirty-two characters',
  };
  for (const command of [['workspace', 'list'], ['migrate']]) {
    const { code, stdout, stderr } = await inbox(command, nowhere);
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    assert.match(stderr, /^inbox: The database .*cannot be reached: .*\n$/);
  }
});

test('a secret key that is not the database’s is exit 2', async () => {
  const url = await createDatabase();
  const first = { DATABASE_URL: url, INBOX_SECRET_KEY: 'the key this database was encrypted with' };
  assert.equal((await inbox(['workspace', 'list'], first)).code, 0);
  const { code, stderr } = await inbox(['workspace', 'list'], {
    ...first,
    INBOX_SECRET_KEY: 'some other key of thirty-two characters',
  });
  assert.equal(code, 2);
  assert.match(stderr, /INBOX_SECRET_KEY .*is not the key/);
});
