import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { cliFile, inbox } from '../../test/cli.ts';
import { clientFor } from '../../test/harness.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'inbox-cli-'));
const env = { INBOX_DATA_DIR: dataDir, PORT: '0', INBOX_LOG_LEVEL: 'warn' };
after(() => rm(dataDir, { recursive: true, force: true }));

test('commands bring the embedded database along, work beside the service, and leave each other running', async () => {
  const made = await inbox(['workspace', 'create', '--name', 'Alone', '--json'], env);
  assert.equal(made.code, 0, made.stderr);

  const { service, url } = await serve();
  try {
    const beside = await inbox(['key', 'create', '--name', 'Beside', '--json'], env);
    assert.equal(beside.code, 0, beside.stderr);
    const { status, body } = await clientFor(url, beside.json.key)('GET', '/workspace');
    assert.equal(status, 200);
    assert.deepEqual(body.data, made.json);
    assert.equal((await inbox(['doctor'], env)).code, 0);
  } finally {
    service.kill('SIGTERM');
  }
  const [code] = (await once(service, 'exit')) as [number];
  assert.equal(code, 0);

  const afterwards = await inbox(['workspace', 'list', '--json'], env);
  assert.deepEqual(afterwards.json, { data: [made.json] });
});

async function serve(): Promise<{ service: ChildProcess; url: string }> {
  const service = spawn(process.execPath, [cliFile, 'serve'], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: service.stdout })) {
    const [, url] = /^inbox ready on (.*)$/.exec(line) ?? [];
    if (url) return { service, url };
  }
  throw new Error('it ended before it was ready');
}
