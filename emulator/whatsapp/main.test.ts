import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAuthority } from '../../test/certificates.ts';
import { start } from './testing.ts';

test('the command prints its page and a channel to paste, and ends when told', async (t) => {
  const command = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), '--port', '0'], {
    env: { ...process.env, WHATSAPP_EMULATOR_APP_SECRET: 'from the environment' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => command.kill('SIGKILL'));
  let output = '';
  for await (const chunk of command.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (output.includes('--webhook-url')) break;
  }
  const url = output.match(/is at (http:\S+)/)?.[1] ?? '';
  assert.equal((await fetch(url)).status, 200);
  const { type, settings } = JSON.parse(output.match(/-d '(.*)'/)?.[1] ?? '');
  assert.equal(type, 'whatsapp');
  assert.equal(settings.api_base_url, `${url}/v23.0`);
  assert.equal(settings.app_secret, 'from the environment');
  const exited = once(command, 'exit');
  command.kill('SIGTERM');
  assert.deepEqual(await exited, [0, null]);
});

test('with a certificate it speaks HTTPS, and so do the addresses it gives', async (t) => {
  const authority = createAuthority();
  const emulator = await start(t, { tls: authority.issue({ hosts: ['127.0.0.1'] }) });
  await emulator.customerSends({
    from: '4915112345678',
    image: { bytes: Buffer.from('x'), mime: 'image/png' },
  });
  const [id] = emulator.media.keys();
  const headers = { authorization: `Bearer ${emulator.settings.accessToken}` };
  const request = get(`${emulator.apiBaseUrl}/${id}`, { ca: authority.cert, headers, agent: false });
  const [response] = await once(request, 'response');
  const described = JSON.parse(String((await response.toArray())[0]));
  assert.ok(described.url.startsWith(`${emulator.url}/`));
  assert.ok(emulator.url.startsWith('https://'));
});
