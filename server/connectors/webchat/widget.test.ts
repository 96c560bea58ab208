import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import { Script } from 'node:vm';
import { gunzipSync } from 'node:zlib';
import { startService } from '../../../test/harness.ts';
import { makeWebchat } from '../../../test/webchat.ts';
import { assembleWidget } from './widget.ts';

const service = await startService();
const ws = await service.workspace();
const channel = await makeWebchat(ws);
const url = `${service.origin}/v1/webchat/widget.js`;
const widget = await assembleWidget();

test('the widget is one script under 15 KB gzipped, and parses as one', () => {
  assert.ok(widget.gzipped.length < 15_000, `${widget.gzipped.length} bytes`);
  assert.doesNotThrow(() => new Script(widget.text));
  assert.doesNotMatch(widget.text, /^(?:import|export)\b/m);
});

test('the widget never makes markup out of text, evaluates text, or uses cookies', () => {
  assert.doesNotMatch(
    widget.text,
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function|document\.cookie/,
  );
});

test('the script is served without a key, as JavaScript, for five minutes', async () => {
  const response = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/javascript; charset=utf-8');
  assert.equal(response.headers.get('cache-control'), 'public, max-age=300');
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(response.headers.get('cross-origin-resource-policy'), 'cross-origin');
  assert.equal(response.headers.get('content-encoding'), null);
  assert.equal(await response.text(), widget.text);
});

test('gzipped for those who take it, and not for those who do not', async () => {
  const zipped = await fetch(url, { headers: { 'accept-encoding': 'br, gzip' } });
  assert.equal(zipped.headers.get('content-encoding'), 'gzip');
  assert.equal(zipped.headers.get('vary'), 'Accept-Encoding');
  assert.equal(await zipped.text(), widget.text);
  assert.equal(gunzipSync(widget.gzipped).toString(), widget.text);
  const plain = await fetch(url, { headers: { 'accept-encoding': 'gzip;q=0, br' } });
  assert.equal(plain.headers.get('content-encoding'), null);
  await plain.text();
});

test('a browser that has it gets 304', async () => {
  const first = await fetch(url);
  const etag = first.headers.get('etag')!;
  await first.text();
  for (const given of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const again = await fetch(url, { headers: { 'if-none-match': given } });
    assert.equal(again.status, 304);
    assert.equal(await again.text(), '');
  }
  const other = await fetch(url, { headers: { 'if-none-match': '"other"' } });
  assert.equal(other.status, 200);
  await other.text();
});

test('the demo page carries the one line, under a policy without inline scripts', async () => {
  const response = await fetch(`${service.origin}/v1/webchat/demo?channel=${channel.id}`);
  const page = await response.text();
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.ok(
    page.includes(`<script src="/v1/webchat/widget.js" data-channel="${channel.id}" async></script>`),
  );
  const policy = response.headers.get('content-security-policy')!;
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe/);
  const [, style = ''] = /<style>([^]*)<\/style>/.exec(page) ?? [];
  assert.ok(policy.includes(createHash('sha256').update(style).digest('base64')));
});

test('the demo page repeats nothing that is not the id of a channel', async () => {
  for (const given of ['', '?channel=', '?channel="><script>alert(1)</script>']) {
    const response = await fetch(`${service.origin}/v1/webchat/demo${given}`);
    assert.equal(response.status, 200);
    assert.doesNotMatch(await response.text(), /<script|alert/);
  }
});

test('a process that is only a worker serves neither', async () => {
  const worker = await startService({ url: service.databaseUrl, env: { INBOX_ROLE: 'worker' } });
  for (const path of ['/v1/webchat/widget.js', `/v1/webchat/demo?channel=${channel.id}`]) {
    const response = await fetch(worker.origin + path);
    assert.equal(response.status, 404);
    await response.text();
  }
});
