import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { identityHash } from '../../../test/webchat.ts';

/** The samples of docs/channels/webchat.md, cut out and run, each where its language is on the machine. */
const guide = readFileSync(new URL('../../../docs/channels/webchat.md', import.meta.url), 'utf8');
const [secret, userId] = ['a secret', 'Zoë 42'];

const sampleOf = (fence: string): string =>
  new RegExp(`^\`\`\`${fence}\n(.*?)^\`\`\``, 'ms').exec(guide)![1]!.trim();

const languages = [
  {
    fence: 'js',
    command: process.execPath,
    flag: '-e',
    program: (sample: string) =>
      `const [secret, userId] = ${JSON.stringify([secret, userId])}; ${sample} console.log(hash)`,
  },
  {
    fence: 'python',
    command: 'python3',
    flag: '-c',
    program: (sample: string) =>
      `import hashlib, hmac\nsecret, user_id = ${JSON.stringify([secret, userId])}\n${sample}\nprint(hash)`,
  },
  {
    fence: 'php',
    command: 'php',
    flag: '-r',
    program: (sample: string) => `$secret = '${secret}'; $user_id = '${userId}'; ${sample} echo $hash;`,
  },
];

for (const { fence, command, flag, program } of languages) {
  if (spawnSync(command, ['--version']).error) continue;
  test(`the ${fence} sample makes the hash that the service checks`, () => {
    const { stdout, stderr } = spawnSync(command, [flag, program(sampleOf(fence))], { encoding: 'utf8' });
    assert.equal(stdout.trim(), identityHash(userId, secret), stderr);
  });
}
