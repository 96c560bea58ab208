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

export interface Language {
  fence: string;
  file: string;
  command: string;
  /** Makes of the file what is then run; without it the command runs the file. */
  build?: string[];
}

const body = Buffer.from('{"event":"message.created","data":{"content":"Zoë \u{1F98A} \u2028"}}');
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

export function testSamples(languages: Language[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'inbox-samples-'));
  atEnd(async () => rmSync(folder, { recursive: true }));

  for (const { fence, file, command, build } of languages.filter(isHere)) {
    const path = join(folder, file);
    const [program, ...args] = build ? [join(folder, 'verify')] : [command, path];
    const verify = (input: Buffer, header: string) =>
      spawnSync(program, [...args, secret, header], { input, cwd: folder }).status;

    test(`the ${fence} sample accepts a genuine delivery and refuses a changed one`, () => {
      writeFileSync(path, sampleOf(fence));
      if (build) spawnSync(command, build, { cwd: folder });
      assert.equal(verify(body, signature), 0);
      assert.notEqual(verify(Buffer.from(body.toString().replace('created', 'deleted')), signature), 0);
      assert.notEqual(verify(body, `${signature.slice(0, -1)}${signature.endsWith('0') ? '1' : '0'}`), 0);
    });
  }
}

/** The last block of that language: for the shell there are others before it. */
function sampleOf(fence: string): string {
  const blocks = [...guide.matchAll(new RegExp(`^\`\`\`${fence}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code]) => code!,
  );
  return blocks.find((code) => /secret/.test(code) && !/curl/.test(code))!;
}

const isHere = ({ command }: Language): boolean =>
  spawnSync(command, [command === 'go' ? 'version' : '--version']).error === undefined &&
  (command !== 'sh' || spawnSync('openssl', ['version']).error === undefined);
