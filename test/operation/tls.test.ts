import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { createAuthority } from '../certificates.ts';
import { atEnd, createDatabase } from '../harness.ts';
import { external, start, stop } from './child.ts';

const dir = mkdtempSync(join(tmpdir(), 'inbox-tls-'));
atEnd(async () => rmSync(dir, { recursive: true }));
const authority = createAuthority();
const { cert, key } = authority.issue({ hosts: ['127.0.0.1'] });
writeFileSync(join(dir, 'cert.pem'), cert);
writeFileSync(join(dir, 'key.pem'), key);
const databaseUrl = await createDatabase();

test('with a certificate it speaks HTTPS, for any number of processes, and nothing else', async () => {
  const operatorsKey = 'a-key-of-the-operator';
  const service = await start({
    ...external(databaseUrl),
    INBOX_TLS_CERT_FILE: join(dir, 'cert.pem'),
    INBOX_TLS_KEY_FILE: join(dir, 'key.pem'),
    INBOX_API_KEY: operatorsKey,
    INBOX_PROCESSES: '2',
  });
  assert.match(service.stdout(), /^inbox ready on https:\/\/127\.0\.0\.1:\d+\/v1$/m);
  assert.match(service.stdout(), /^curl -s -k 'https:/m);
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { authorization: `Bearer ${operatorsKey}` };
    get(`${service.baseUrl}/workspace`, { ca: authority.cert, headers, agent: false }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode));
    }).once('error', reject);
  });
  assert.equal(status, 200);
  await assert.rejects(fetch(`${service.baseUrl}/workspace`), 'a certificate nobody vouches for');
  await assert.rejects(fetch(service.origin.replace('https:', 'http:')));
  await stop(service);
});
