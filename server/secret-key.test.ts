import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { ConfigError } from './config.ts';
import { keptSecretKey } from './secret-key.ts';

const dir = mkdtempSync(join(tmpdir(), 'inbox-secret-'));
after(() => rmSync(dir, { recursive: true }));
const file = join(dir, 'secret.key');

test('whoever asks first makes the key, and all get the same; only its owner can read it', async () => {
  const keys = await Promise.all(Array.from({ length: 8 }, () => keptSecretKey(dir)));
  assert.equal(new Set(keys).size, 1);
  assert.ok(keys[0]!.length >= 32);
  assert.equal(readFileSync(file, 'utf8').trim(), keys[0]);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('a damaged key is refused, not used and not replaced', async () => {
  writeFileSync(file, '');
  await assert.rejects(keptSecretKey(dir), ConfigError);
  assert.equal(readFileSync(file, 'utf8'), '');
});
