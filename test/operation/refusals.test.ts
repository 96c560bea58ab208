import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { suite } from 'node:test';
import pg from 'pg';
import { createSelfSigned } from '../certificates.ts';
import { atEnd, createDatabase } from '../harness.ts';
import { type Environment, external, refused } from './child.ts';

const dir = mkdtempSync(join(tmpdir(), 'inbox-refusals-'));
atEnd(async () => rmSync(dir, { recursive: true }));
const file = (name: string, content: string) => {
  writeFileSync(join(dir, name), content);
  return join(dir, name);
};
const [one, other] = [createSelfSigned({ hosts: ['localhost'] }), createSelfSigned({ hosts: ['localhost'] })];
const cert = file('cert.pem', one.cert);
const key = file('key.pem', one.key);
const otherKey = file('other.pem', other.key);
const noPem = file('no.pem', 'this is no certificate');

const databaseUrl = await createDatabase();
const silent = createServer().listen(0, '127.0.0.1');
await once(silent, 'listening');
atEnd(async () => silent.close());
const { port: silentPort } = silent.address() as AddressInfo;

const tls = (INBOX_TLS_CERT_FILE: string, INBOX_TLS_KEY_FILE: string) => ({
  INBOX_TLS_CERT_FILE,
  INBOX_TLS_KEY_FILE,
});
const noDatabase = databaseUrl.replace(new URL(databaseUrl).pathname, '/nothing');

/** Every variable that can hold a bad value, what the line must say, and how the process ends. */
const cases: [name: string, env: Environment, line: RegExp, code: number][] = [
  ['PORT', { PORT: '70000' }, /PORT must be .* not "70000"/, 2],
  [
    'HOST',
    { HOST: '192.0.2.1', ...external(databaseUrl) },
    /HOST 192\.0\.2\.1 is no address of this machine/,
    2,
  ],
  ['DATABASE_URL of another product', external('mysql://localhost/inbox'), /DATABASE_URL must start with/, 2],
  [
    'DATABASE_URL that is no URL',
    external('postgres://inbox:canary@host:port/db'),
    /DATABASE_URL is not a URL/,
    2,
  ],
  ['DATABASE_URL without INBOX_SECRET_KEY', { DATABASE_URL: databaseUrl }, /INBOX_SECRET_KEY is required/, 2],
  ['INBOX_SECRET_KEY', { INBOX_SECRET_KEY: 'canary' }, /INBOX_SECRET_KEY must have at least 32/, 2],
  ['INBOX_API_KEY', { INBOX_API_KEY: 'a canary' }, /INBOX_API_KEY must be/, 2],
  [
    'INBOX_DATA_DIR',
    { INBOX_DATA_DIR: '/dev/null/data' },
    /data directory \/dev\/null\/data .*INBOX_DATA_DIR/,
    1,
  ],
  [
    'one TLS file',
    { INBOX_TLS_CERT_FILE: cert },
    /INBOX_TLS_CERT_FILE and INBOX_TLS_KEY_FILE go together/,
    2,
  ],
  [
    'a missing certificate',
    tls('/nowhere.pem', key),
    /INBOX_TLS_CERT_FILE: \/nowhere\.pem cannot be used/,
    2,
  ],
  ['a missing TLS key', tls(cert, '/nowhere.pem'), /INBOX_TLS_KEY_FILE: \/nowhere\.pem cannot be used/, 2],
  ['a broken certificate', tls(noPem, key), /INBOX_TLS_CERT_FILE: .*no\.pem cannot be used/, 2],
  [
    'a TLS key of another certificate',
    tls(cert, otherKey),
    /INBOX_TLS_KEY_FILE: .*other\.pem cannot be used/,
    2,
  ],
  ['INBOX_TRUST_PROXY', { INBOX_TRUST_PROXY: 'maybe' }, /INBOX_TRUST_PROXY must be on or off/, 2],
  ['INBOX_PROCESSES', { INBOX_PROCESSES: '0' }, /INBOX_PROCESSES must be/, 2],
  ['INBOX_ROLE', { INBOX_ROLE: 'boss' }, /INBOX_ROLE must be one of all, api, worker, not "boss"/, 2],
  [
    'INBOX_WEBHOOK_RETRY_SECONDS',
    { INBOX_WEBHOOK_RETRY_SECONDS: '5,,30' },
    /INBOX_WEBHOOK_RETRY_SECONDS must/,
    2,
  ],
  [
    'INBOX_WEBHOOK_TIMEOUT_SECONDS',
    { INBOX_WEBHOOK_TIMEOUT_SECONDS: '0' },
    /INBOX_WEBHOOK_TIMEOUT_SECONDS must/,
    2,
  ],
  ['INBOX_EGRESS_ALLOW', { INBOX_EGRESS_ALLOW: '10.0.0.0' }, /INBOX_EGRESS_ALLOW must be/, 2],
  [
    'INBOX_ALLOW_HTTP_WEBHOOKS',
    { INBOX_ALLOW_HTTP_WEBHOOKS: '2' },
    /INBOX_ALLOW_HTTP_WEBHOOKS must be on or off/,
    2,
  ],
  ['INBOX_LOG_LEVEL', { INBOX_LOG_LEVEL: 'loud' }, /INBOX_LOG_LEVEL must be one of/, 2],
  [
    'a database nobody listens for',
    external('postgres://inbox:canary@127.0.0.1:1/inbox'),
    /The database inbox at 127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/,
    1,
  ],
  [
    'a database that never answers',
    external(`postgres://inbox:canary@127.0.0.1:${silentPort}/inbox`),
    /The database inbox at 127\.0\.0\.1:\d+ cannot be reached: .*timeout/,
    1,
  ],
  ['a database that does not exist', external(noDatabase), /DATABASE_URL: .*"nothing" does not exist/, 2],
];

suite('what keeps the service from starting is said in one line, without secrets', { concurrency: 4 }, () => {
  for (const [name, env, line, code] of cases) {
    test(`${name}: exit code ${code}`, async () => {
      const said = await refused(env, code);
      assert.match(said, line);
      assert.doesNotMatch(said, /canary/);
    });
  }
});

test('a taken port is said once, however many processes wanted it', async () => {
  const line = await refused({ ...external(databaseUrl), PORT: String(silentPort), INBOX_PROCESSES: '3' }, 1);
  assert.equal(line, `inbox: Port ${silentPort} on 127.0.0.1 is taken: stop what uses it, or set PORT`);
});

async function withSql(url: string, ...statements: string[]): Promise<void> {
  const sql = new pg.Client({ connectionString: url });
  await sql.connect();
  for (const statement of statements) await sql.query(statement);
  await sql.end();
}

test('another secret key than the database was encrypted with is refused', async () => {
  const url = await createDatabase();
  await refused({ ...external(url), HOST: '192.0.2.1' }, 2); // far enough to leave the mark of its key
  const line = await refused(
    { ...external(url), INBOX_SECRET_KEY: 'another canary key of 32 characters' },
    2,
  );
  assert.match(line, /^inbox: INBOX_SECRET_KEY .* is not the key this database was encrypted with$/);
});

test('a database that may lose acknowledged writes is refused', async () => {
  const url = await createDatabase();
  await withSql(url, `alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = off`);
  const line = await refused(external(url), 2);
  assert.match(line, /PostgreSQL runs with synchronous_commit off and may lose acknowledged writes/);
});

test('a database of a newer version is refused and left as it is', async () => {
  const url = await createDatabase();
  await withSql(url, `insert into schema_migrations (version, name) values (9999, 'from_the_future')`);
  const line = await refused(external(url), 2);
  assert.match(line, /The database has schema 9999 of a newer Inbox/);
});
