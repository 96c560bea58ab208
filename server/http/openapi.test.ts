import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import Fastify from 'fastify';
import { collectRoutes } from '../../test/factory.ts';
import { openapiDocument } from './openapi.ts';
import { describeRoutes } from './openapi/document.ts';
import { type ApiDocument, operationsOf } from './openapi/types.ts';
import type { App } from './route.ts';
import { scopes } from './scopes.ts';

const root = resolve(import.meta.dirname, '../..');
const routes = collectRoutes();
const document = (await openapiDocument()) as ApiDocument;
const operations = operationsOf(document);

test('openapi.json is what the code describes (else run: npm run openapi)', async () => {
  const committed = (await readFile(join(root, 'openapi.json'), 'utf8')).split('\n');
  const current = `${JSON.stringify(document, null, 2)}\n`.split('\n');
  const line = current.findIndex((text, place) => text !== committed[place]);
  assert.equal(line, -1, `line ${line + 1} is "${committed[line]}" and should be "${current[line]}"`);
  assert.equal(committed.length, current.length);
});

test('every route is in the document and every operation is a route, with the same scope', () => {
  const served = routes
    .filter(({ method, path }) => path.startsWith('/v1/') && method !== 'OPTIONS')
    .filter(({ path }) => !/^\/v1\/docs\/(style\.css|script\.js)$/.test(path)) // parts of the page, not of the interface
    .map(({ method, path, scope }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')} ${scope ?? 'public'}`);
  const described = operations.map(({ method, path, operation }) => {
    const [needed] = operation.security ?? [];
    return `${method.toUpperCase()} /v1${path} ${needed ? Object.values(needed)[0]?.join() : 'public'}`;
  });
  assert.deepEqual(new Set(described), new Set(served));
  assert.ok(served.length > 20);
});

test('every operation has exactly one scope, or needs no key', () => {
  for (const { operation } of operations) {
    const { operationId, security = [] } = operation;
    if (security.length === 0) continue;
    assert.equal(security.length, 1, operationId);
    const needed = Object.values(security[0]!).flat();
    assert.equal(needed.length, 1, operationId);
    assert.ok((scopes as readonly string[]).includes(needed[0]!), operationId);
    assert.match(operation.description ?? '', new RegExp(`Needs the scope \`${needed[0]}\``));
  }
});

test('every operation has one tag that the document explains', () => {
  const known = new Set(document.tags.map(({ name }) => name));
  for (const { operation } of operations) {
    assert.equal(operation.tags.length, 1, operation.operationId);
    assert.ok(known.has(operation.tags[0]!), `${operation.operationId}: ${operation.tags[0]}`);
  }
});

test('every POST with a key takes an Idempotency-Key, and every list has a Link header', () => {
  for (const { method, operation } of operations) {
    const text = JSON.stringify(operation);
    const isPost = method === 'post' && operation.security?.length === 1;
    assert.equal(text.includes('#/components/parameters/IdempotencyKey'), isPost, operation.operationId);
    assert.equal(text.includes('#/components/headers/Idempotent-Replayed'), isPost, operation.operationId);
    const isList = text.includes('#/components/schemas/Meta');
    assert.equal(text.includes('#/components/headers/Link'), isList, operation.operationId);
  }
});

test('keywords of the validator stay inside', () => {
  assert.doesNotMatch(JSON.stringify(document), /"(?:x-rule|contentRule|\$id|~\w+)":/);
});

test('the document passes redocly lint', () => {
  const redocly = join(root, 'node_modules/@redocly/cli/bin/cli.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [redocly, 'lint', 'openapi.json'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  assert.equal(status, 0, `${stdout}${stderr}`);
});

test('a route without a scope, or that the document could not describe, does not start', async () => {
  const described = { operationId: 'getThing', summary: 'Read a thing', tags: ['Things'] };
  const scope = 'contacts:read' as const;
  const attempts: [object, RegExp | undefined][] = [
    [{ schema: described }, /GET \/things lacks either config\.scope or config\.public/],
    [{ config: { scope, public: true }, schema: described }, /lacks either config\.scope or config\.public/],
    [{ config: { scope } }, /lacks schema\.operationId, schema\.summary, schema\.tags/],
    [{ config: { scope }, schema: { ...described, summary: '' } }, /lacks schema\.summary/],
    [{ config: { scope }, schema: { ...described, tags: [] } }, /lacks schema\.tags/],
    [{ config: { scope }, schema: described }, undefined],
    [{ config: { public: true }, schema: described }, undefined],
  ];
  for (const [options, expected] of attempts) {
    const app = Fastify() as unknown as App;
    await describeRoutes(app);
    const register = () => app.get('/things', options, async () => ({}));
    if (expected) assert.throws(register, expected);
    else assert.doesNotThrow(register);
  }
});
