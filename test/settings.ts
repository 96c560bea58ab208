import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Kind, newUuid, toId } from '../server/ids.ts';
import type { Service, Workspace } from './harness.ts';

export interface Resource {
  kind: Kind;
  path: string;
  table: string;
  /** As a 404 names it. */
  noun: string;
  /** A required text field of at most 255 characters, not blank. */
  textField: string;
  /** A body that can be sent again and again with another n. */
  body: (n: number) => Record<string, unknown>;
  /** A change that PATCH makes, and nothing else. */
  change: Record<string, unknown>;
}

/** What every settings resource promises, asked of one of them. */
export function keepsSettingsPromises(service: Service, resource: Resource): void {
  const { kind, path, table, noun, textField, body, change } = resource;

  async function made(ws: Workspace, n = 1) {
    const answer = await ws.request('POST', path, body(n));
    assert.equal(answer.status, 201, answer.text);
    return answer.body.data;
  }
  const listed = async (ws: Workspace, query = '') =>
    (await ws.request('GET', `${path}${query}`)).body.data.map(({ id }: { id: string }) => id);

  test(`POST ${path} answers 201 with what GET then shows`, async () => {
    const ws = await service.workspace();
    const data = await made(ws);
    assert.match(data.id, new RegExp(`^${toId(kind, newUuid()).split('_')[0]}_[0-9a-z]{26}$`));
    assert.match(data.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(data.archived, false);
    assert.partialDeepStrictEqual(data, body(1));
    const read = await ws.request('GET', `${path}/${data.id}`);
    assert.equal(read.status, 200);
    assert.deepEqual(read.body, { data });
  });

  test(`GET ${path} lists newest first, a page at a time, with the total`, async () => {
    const ws = await service.workspace();
    const ids: string[] = [];
    for (let n = 1; n <= 3; n++) ids.unshift((await made(ws, n)).id);
    const first = await ws.request('GET', `${path}?per_page=2`);
    assert.equal(first.status, 200);
    assert.deepEqual(
      first.body.data.map(({ id }: { id: string }) => id),
      ids.slice(0, 2),
    );
    assert.deepEqual(first.body.meta, { total: 3, page: 1, per_page: 2, total_pages: 2 });
    assert.match(first.headers.get('link') ?? '', /page=2>; rel="next"/);
    assert.deepEqual(await listed(ws, '?per_page=2&page=2'), ids.slice(2));
    const past = await ws.request('GET', `${path}?page=9`);
    assert.deepEqual(past.body, { data: [], meta: { total: 3, page: 9, per_page: 25, total_pages: 1 } });
    assert.deepEqual(await listed(await service.workspace()), [], 'another workspace sees none of them');
  });

  test(`GET ${path} refuses pages and flags outside their range with 400`, async () => {
    const ws = await service.workspace();
    for (const query of ['per_page=101', 'per_page=0', 'page=0', 'page=x', 'archived=maybe']) {
      assert.equal((await ws.request('GET', `${path}?${query}`)).status, 400, query);
    }
  });

  test(`PATCH ${path}/{id} changes the fields sent and no other`, async () => {
    const ws = await service.workspace();
    const before = await made(ws);
    const patched = await ws.request('PATCH', `${path}/${before.id}`, change);
    assert.equal(patched.status, 200, patched.text);
    assert.deepEqual(patched.body.data, { ...before, ...change });
    assert.notDeepEqual(patched.body.data, before);
    assert.deepEqual((await ws.request('GET', `${path}/${before.id}`)).body, patched.body);
  });

  test(`PATCH ${path}/{id} takes back what GET showed, and changes nothing then`, async () => {
    const ws = await service.workspace();
    const data = await made(ws);
    for (const sent of [data, {}, { unknown: 'field' }]) {
      const patched = await ws.request('PATCH', `${path}/${data.id}`, sent);
      assert.equal(patched.status, 200, patched.text);
      assert.deepEqual(patched.body.data, data);
    }
  });

  test(`DELETE ${path}/{id} archives: readable, out of the list, in it with ?archived=true`, async () => {
    const ws = await service.workspace();
    const kept = await made(ws, 1);
    const gone = await made(ws, 2);
    for (let time = 1; time <= 2; time++) {
      const deleted = await ws.request('DELETE', `${path}/${gone.id}`);
      assert.equal(deleted.status, 200);
      assert.deepEqual(deleted.body, { data: { id: gone.id, archived: true } });
    }
    const read = await ws.request('GET', `${path}/${gone.id}`);
    assert.deepEqual(read.body.data, { ...gone, archived: true });
    assert.deepEqual(await listed(ws), [kept.id]);
    assert.deepEqual(await listed(ws, '?archived=false'), [kept.id]);
    assert.deepEqual(await listed(ws, '?archived=true'), [gone.id, kept.id]);
    assert.equal((await ws.request('GET', path)).body.meta.total, 1);
    assert.equal((await ws.request('GET', `${path}?archived=true`)).body.meta.total, 2);
  });

  test(`PATCH ${path}/{id} with archived false brings it back`, async () => {
    const ws = await service.workspace();
    const data = await made(ws);
    await ws.request('DELETE', `${path}/${data.id}`);
    const back = await ws.request('PATCH', `${path}/${data.id}`, { archived: false });
    assert.equal(back.status, 200, back.text);
    assert.deepEqual(back.body.data, data);
    assert.deepEqual(await listed(ws), [data.id]);
  });

  test(`${path}/{id} answers a foreign, a malformed and a missing id with the same 404`, async () => {
    const [ws, other] = await Promise.all([service.workspace(), service.workspace()]);
    const foreign = await made(other);
    const answers = new Set<string>();
    for (const id of [foreign.id, 'nonsense', toId(kind, newUuid()), foreign.id.toUpperCase()]) {
      for (const [method, sent] of [['GET'], ['PATCH', change], ['DELETE']] as const) {
        const answer = await ws.request(method, `${path}/${id}`, sent, {
          headers: { 'x-request-id': 'same' },
        });
        assert.equal(answer.status, 404);
        assert.equal(answer.body.error.message, `${noun} not found`);
        answers.add(answer.text);
      }
    }
    assert.equal(answers.size, 1);
    assert.deepEqual((await other.request('GET', `${path}/${foreign.id}`)).body.data, foreign);
  });

  test(`${path} needs settings:read to read and settings:write to write`, async () => {
    const ws = await service.workspace();
    const { id } = await made(ws);
    const reader = await ws.makeKey({ scopes: ['settings:read'] });
    const writer = await ws.makeKey({ scopes: ['settings:write'] });
    const operations: [string, string, unknown, string][] = [
      ['GET', path, undefined, reader],
      ['GET', `${path}/${id}`, undefined, reader],
      ['POST', path, body(2), writer],
      ['PATCH', `${path}/${id}`, {}, writer],
      ['DELETE', `${path}/${id}`, undefined, writer],
    ];
    for (const [method, path, sent, key] of operations) {
      const refused = await ws.request(method, path, sent, { key: key === reader ? writer : reader });
      assert.equal(refused.status, 403, `${method} ${path}`);
      const allowed = await ws.request(method, path, sent, { key });
      assert.ok(allowed.status < 300, `${method} ${path}: ${allowed.text}`);
    }
  });

  test(`POST ${path} repeated with its Idempotency-Key creates once`, async () => {
    const ws = await service.workspace();
    const headers = { 'idempotency-key': 'once' };
    const first = await ws.request('POST', path, body(1), { headers });
    const second = await ws.request('POST', path, body(1), { headers });
    assert.equal(first.status, 201);
    assert.equal(second.status, 201);
    assert.deepEqual(second.body, first.body);
    assert.equal((await listed(ws)).length, 1);
  });

  test(`${path}: ${textField} is required (400), text (400), and 1 to 255 characters that are not blank (422)`, async () => {
    const ws = await service.workspace();
    const { [textField]: _, ...without } = body(1);
    const missing = await ws.request('POST', path, without);
    assert.equal(missing.status, 400);
    assert.equal(missing.body.error.details[0].field, textField);
    for (const [value, status] of [
      [5, 400],
      [null, 400],
      ['', 422],
      [' \t\n', 422],
      ['x'.repeat(256), 422],
      ['é'.repeat(255), 201],
    ] as const) {
      const answer = await ws.request('POST', path, { ...body(1), [textField]: value });
      assert.equal(answer.status, status, `${textField}: ${JSON.stringify(value)}`);
      if (status !== 201) assert.equal(answer.body.error.details[0].field, textField);
    }
  });

  test(`${path}: a workspace can have 500, also when two requests ask for the last place`, async () => {
    const ws = await service.workspace();
    const { id } = await made(ws);
    await service.sql(
      `insert into ${table}
       select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), '${textField}', 'filler ' || n))).*
       from ${table} t, generate_series(1, 498) n where workspace_id = $1`,
      [ws.uuid],
    );
    const both = await Promise.all([2, 3].map((n) => ws.request('POST', path, body(n))));
    assert.deepEqual(
      both.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 422],
    );
    const refused = both.find(({ status }) => status === 422)!;
    assert.equal(refused.body.error.details[0].rule, 'limit');
    assert.equal((await ws.request('GET', path)).body.meta.total, 500);

    await ws.request('DELETE', `${path}/${id}`);
    assert.equal((await ws.request('POST', path, body(4))).status, 201, 'an archived one makes room');
    assert.equal((await ws.request('PATCH', `${path}/${id}`, { archived: false })).status, 422);
    assert.equal((await ws.request('GET', `${path}/${id}`)).body.data.archived, true);
  });
}
