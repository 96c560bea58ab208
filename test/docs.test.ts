import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { atEnd } from './harness.ts';

/** The samples of docs/webhooks.md, cut out and run, each where its language is on the machine. */
const guide = readFileSync(join(import.meta.dirname, '../docs/webhooks.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'inbox-docs-'));
atEnd(async () => rmSync(folder, { recursive: true }));

const languages = [
  { fence: 'js', file: 'verify.mjs', command: process.execPath },
  { fence: 'python', file: 'verify.py', command: 'python3' },
  { fence: 'go', file: 'verify.go', command: 'go' },
  { fence: 'php', file: 'verify.php', command: 'php' },
  { fence: 'ruby', file: 'verify.rb', command: 'ruby' },
  { fence: 'sh', file: 'verify.sh', command: 'sh' },
];

/** The last block of that language: for the shell there are others before it. */
function sampleOf(fence: string): string {
  const blocks = [...guide.matchAll(new RegExp(`^\`\`\`${fence}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code]) => code!,
  );
  return blocks.find((code) => /secret/.test(code) && !/curl/.test(code))!;
}

const isHere = (command: string): boolean =>
  spawnSync(command, [command === 'go' ? 'version' : '--version']).error === undefined &&
  (command !== 'sh' || spawnSync('openssl', ['version']).error === undefined);

const body = Buffer.from('{"event":"message.created","data":{"content":"Zoë \u{1F98A} \u2028"}}');
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

for (const { fence, file, command } of languages.filter(({ command }) => isHere(command))) {
  const path = join(folder, file);
  writeFileSync(path, sampleOf(fence));
  const runnable = command === 'go' ? [join(folder, 'verify')] : [command, path];
  const verify = (input: Buffer, header: string) =>
    spawnSync(runnable[0]!, [...runnable.slice(1), secret, header], { input, cwd: folder }).status;

  test(`the ${fence} sample accepts a genuine delivery and refuses a changed one`, () => {
    if (command === 'go') spawnSync('go', ['build', '-o', 'verify', file], { cwd: folder });
    assert.equal(verify(body, signature), 0);
    assert.notEqual(verify(Buffer.from(body.toString().replace('created', 'deleted')), signature), 0);
    assert.notEqual(
      verify(
        body,
        signature.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      ),
      0,
    );
  });
}
