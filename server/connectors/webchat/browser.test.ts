import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { startBrowser } from '../../../test/browser.ts';
import { type Data, eventually, makeAgent, messagesOf, read, sendMessage } from '../../../test/factory.ts';
import { atEnd, startService } from '../../../test/harness.ts';
import { identityHash, makeWebchat, visit } from '../../../test/webchat.ts';
import { fromId } from '../../ids.ts';
import { startDispatchWorker } from '../dispatch/worker.ts';

/** The widget in a real browser, on a page of another origin than the service. */
const service = await startService();
const worker = startDispatchWorker(service.ctx);
atEnd(() => worker.stop());
const ws = await service.workspace();
const agent = await makeAgent(ws, { name: 'Grace Hopper' });
const agentKey = await ws.makeKey({ agentId: fromId('agent', agent.id)! });
const grace = {
  request: (...[m, p, b]: [string, string, unknown?]) => ws.request(m, p, b, { key: agentKey }),
};
const site = await startSite();
const browser = await startBrowser();
test.beforeEach(() => service.sql('delete from rate_windows'));

const patienceMs = 8_000;

/** A site whose every page is what the test says. */
async function startSite(): Promise<{ origin: string; page: { html: string; policy?: string } }> {
  const page: { html: string; policy?: string } = { html: '' };
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (page.policy !== undefined) response.setHeader('content-security-policy', page.policy);
    response.end(
      `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Shop</title><body><h1>Shop</h1>${page.html}</body></html>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, page };
}

const tag = (channelId: string, attributes: Record<string, string> = {}, origin = service.origin): string => {
  const more = Object.entries(attributes).map(
    ([name, value]) => `data-${name}="${value.replaceAll('"', '&quot;')}"`,
  );
  return `<script src="${origin}/v1/webchat/widget.js" data-channel="${channelId}" ${more.join(' ')} async></script>`;
};

interface Visit {
  context: BrowserContext;
  page: Page;
  /** What went wrong on the page. */
  errors: string[];
}

/** A browser of its own that has the site open. */
async function openSite(html: string, options: BrowserContextOptions = {}): Promise<Visit> {
  site.page.html = html;
  delete site.page.policy;
  const context = await browser.newContext(options);
  context.setDefaultTimeout(patienceMs);
  const errors: string[] = [];
  context.on('weberror', (error) => errors.push(String(error.error())));
  const page = await context.newPage();
  await page.goto(site.origin);
  await launcher(page).waitFor();
  return { context, page, errors };
}

const launcher = (page: Page) => page.locator('inbox-webchat .launcher');
const input = (page: Page) => page.locator('inbox-webchat textarea');
const bubbles = (page: Page) => page.locator('inbox-webchat .message .text');

async function write(page: Page, text: string): Promise<void> {
  await input(page).fill(text);
  await input(page).press('Enter');
}

const stored = (page: Page) => page.locator('inbox-webchat .message.visitor:not(.pending)');

/** What the visitor reads, once there is so much of it. */
async function shown(page: Page, count: number): Promise<string[]> {
  await bubbles(page)
    .nth(count - 1)
    .waitFor();
  return bubbles(page).allInnerTexts();
}

/** The conversation of the channel's one visitor. */
async function theConversation(channelId: string): Promise<string> {
  const [conversation] = await eventually(
    patienceMs,
    () => read(ws, `/conversations?channel_id=${channelId}`),
    (list: Data[]) => list.length > 0,
  );
  return conversation.id;
}

async function customerMessages(channelId: string): Promise<string[]> {
  const messages = await messagesOf(ws, await theConversation(channelId));
  return messages.filter(({ type }) => type === 'incoming').map(({ content }) => content);
}

// Functions of the next three lines run in the page, where elements are: here they are any data.
const isFocused = (locator: Locator): Promise<boolean> =>
  locator.evaluate((element: Data) => element.getRootNode().activeElement === element);
const styleOf = (locator: Locator): Promise<Data> =>
  locator.evaluate((element: Data) => ({ ...element.ownerDocument.defaultView.getComputedStyle(element) }));

test('a customer writes on a page of another origin, an agent answers, and the customer reads it without a reload', async () => {
  const channel = await makeWebchat(ws, { allowed_origins: [site.origin] });
  const { context, page, errors } = await openSite(tag(channel.id));
  await launcher(page).click();
  await write(page, 'Where is my order?');
  await stored(page).waitFor();
  await sendMessage(grace, await theConversation(channel.id), { content: 'It left this morning.' });
  assert.deepEqual(await shown(page, 2), ['Where is my order?', 'It left this morning.']);
  assert.equal(await page.locator('inbox-webchat .author').innerText(), 'Grace Hopper');
  assert.deepEqual(errors, []);
  await context.close();
});

test('a reload keeps the conversation, the open window and the half-written message', async () => {
  const channel = await makeWebchat(ws);
  const { context, page } = await openSite(tag(channel.id));
  await launcher(page).click();
  await write(page, 'first');
  await stored(page).waitFor();
  await input(page).fill('half writ');
  await sendMessage(grace, await theConversation(channel.id), { content: 'answer' });
  await page.reload();
  assert.deepEqual(await shown(page, 2), ['first', 'answer']);
  assert.equal(await input(page).inputValue(), 'half writ');
  await context.close();
});

test('the server is restarted while the customer types and the agent answers: nothing is lost or doubled', async () => {
  const first = await startService({ url: service.databaseUrl });
  const channel = await makeWebchat(ws);
  const { context, page } = await openSite(tag(channel.id, {}, first.origin));
  await launcher(page).click();
  await write(page, 'before');
  await stored(page).waitFor();
  const conversation = await theConversation(channel.id);
  await sendMessage(grace, conversation, { content: 'answer before' });
  await shown(page, 2);
  await input(page).pressSequentially('while it is ');

  await first.close();
  await sendMessage(grace, conversation, { content: 'answer while it is down' });
  await input(page).pressSequentially('down');
  await input(page).press('Enter');
  await page.locator('inbox-webchat .message.unsent').waitFor();
  await input(page).pressSequentially('and more');
  await startService({ url: service.databaseUrl, port: Number(new URL(first.origin).port) });
  await stored(page).nth(1).waitFor();
  await input(page).press('Enter');
  await stored(page).nth(2).waitFor();
  await sendMessage(grace, conversation, { content: 'answer after' });

  const expected = [
    'before',
    'answer before',
    'while it is down',
    'answer while it is down',
    'and more',
    'answer after',
  ];
  assert.deepEqual((await shown(page, 6)).toSorted(), expected.toSorted());
  assert.deepEqual(await customerMessages(channel.id), ['before', 'while it is down', 'and more']);
  await page.reload();
  assert.deepEqual((await shown(page, 6)).toSorted(), expected.toSorted());
  await context.close();
});

test('a message whose answer got lost on the way is sent again and stored once', async () => {
  const channel = await makeWebchat(ws);
  const { context, page } = await openSite(tag(channel.id));
  let lost = 0;
  await page.route('**/webchat/messages', async (route) => {
    if (route.request().method() !== 'POST' || lost >= 2) return route.continue();
    lost++;
    await route.fetch();
    await route.abort('connectionreset');
  });
  await launcher(page).click();
  await write(page, 'once only');
  await page.locator('inbox-webchat .unsent').waitFor();
  await page.locator('inbox-webchat .retry').click();
  await stored(page).waitFor();
  assert.equal(lost, 2);
  assert.deepEqual(await bubbles(page).allInnerTexts(), ['once only']);
  assert.deepEqual(await customerMessages(channel.id), ['once only']);
  await context.close();
});

test('a reload in the middle of sending loses nothing and doubles nothing', async () => {
  const channel = await makeWebchat(ws);
  const { context, page } = await openSite(tag(channel.id));
  await launcher(page).click();
  await write(page, 'first');
  await stored(page).waitFor();
  let reached = 0;
  await page.route('**/webchat/messages', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await route.fetch(); // it is stored, and the answer never comes
    reached++;
  });
  await write(page, 'in the middle');
  await write(page, 'and one behind it');
  await eventually(
    patienceMs,
    async () => reached,
    (count) => count === 1,
  );
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.reload();
  await stored(page).nth(2).waitFor();
  assert.deepEqual(await shown(page, 3), ['first', 'in the middle', 'and one behind it']);
  assert.deepEqual(await customerMessages(channel.id), ['first', 'in the middle', 'and one behind it']);
  await context.close();
});

test('what is written without a network is sent once there is one, in the order it was written', async () => {
  const channel = await makeWebchat(ws);
  const { context, page } = await openSite(tag(channel.id));
  await launcher(page).click();
  await write(page, 'zero');
  await stored(page).waitFor();
  await context.setOffline(true);
  for (const text of ['one', 'two', 'three']) await write(page, text);
  await page.locator('inbox-webchat .unsent').waitFor();
  await context.setOffline(false);
  await stored(page).nth(3).waitFor();
  assert.deepEqual(await customerMessages(channel.id), ['zero', 'one', 'two', 'three']);
  await context.close();
});

test('typing is never disturbed: messages that come leave field, text, caret and focus as they are', async () => {
  const channel = await makeWebchat(ws);
  const { context, page } = await openSite(tag(channel.id));
  await launcher(page).click();
  await write(page, 'question');
  await stored(page).waitFor();
  await input(page).fill('I am writing');
  const mark = (field: Data) => {
    field.marked = true;
    field.setSelectionRange(5, 7);
  };
  await input(page).evaluate(mark);
  const conversation = await theConversation(channel.id);
  for (const content of ['one', 'two', 'three']) await sendMessage(grace, conversation, { content });
  await shown(page, 4);
  const state = (field: Data) => [field.value, field.selectionStart, field.selectionEnd, field.marked];
  assert.deepEqual(await input(page).evaluate(state), ['I am writing', 5, 7, true]);
  assert.ok(await isFocused(input(page)));
  await context.close();
});

test('two tabs are one visitor: both show what is written in either, and both know what was read', async () => {
  const channel = await makeWebchat(ws);
  const { context, page: one } = await openSite(tag(channel.id));
  await launcher(one).click();
  await write(one, 'from the first tab');
  await stored(one).waitFor();
  const two = await context.newPage();
  await two.goto(site.origin);
  await launcher(two).click();
  assert.deepEqual(await shown(two, 1), ['from the first tab']);
  await write(two, 'from the second tab');
  assert.deepEqual(await shown(one, 2), ['from the first tab', 'from the second tab']);
  await input(one).press('Escape');
  await input(two).press('Escape');
  await sendMessage(grace, await theConversation(channel.id), { content: 'to both' });
  for (const page of [one, two])
    await page.getByRole('button', { name: 'Open chat, 1 unread message' }).waitFor();
  await launcher(two).click();
  await one.getByRole('button', { name: 'Open chat', exact: true }).waitFor();
  assert.equal((await read(ws, `/conversations?channel_id=${channel.id}`)).length, 1);
  await context.close();
});

test('the same text, twice and from two tabs at once, is so many messages, each shown once', async () => {
  const channel = await makeWebchat(ws);
  const { context, page: one } = await openSite(tag(channel.id));
  await launcher(one).click();
  await write(one, 'hello');
  await stored(one).waitFor();
  const two = await context.newPage();
  await two.goto(site.origin);
  await launcher(two).click();
  await shown(two, 1);
  await Promise.all([write(one, 'ok'), write(two, 'ok')]);
  await write(one, 'ok');
  for (const page of [one, two]) {
    await stored(page).nth(3).waitFor();
    assert.deepEqual(await shown(page, 4), ['hello', 'ok', 'ok', 'ok']);
  }
  assert.deepEqual(await customerMessages(channel.id), ['hello', 'ok', 'ok', 'ok']);
  await context.close();
});

test('a user the site vouches for finds their conversation in another browser; who has logged out leaves nothing behind', async () => {
  const secret = 'known to the site';
  const channel = await makeWebchat(ws, { identity_secret: secret });
  const mia = { 'user-id': 'mia', 'user-hash': identityHash('mia', secret), 'user-name': 'Mia' };
  const { context, page } = await openSite(tag(channel.id, mia));
  await launcher(page).click();
  await write(page, 'It is me');
  await stored(page).waitFor();
  const { contact } = await read(ws, `/conversations/${await theConversation(channel.id)}`);
  assert.equal(contact.name, 'Mia');

  const elsewhere = await openSite(tag(channel.id, mia));
  await launcher(elsewhere.page).click();
  assert.deepEqual(await shown(elsewhere.page, 1), ['It is me']);
  await elsewhere.context.close();

  site.page.html = tag(channel.id);
  await page.reload();
  await launcher(page).waitFor();
  assert.equal(await bubbles(page).count(), 0);
  assert.doesNotMatch(String(await page.evaluate('JSON.stringify(localStorage)')), /user:/);
  await context.close();
});

test('a user nobody vouches for cannot chat as anyone, and is told so', async () => {
  const channel = await makeWebchat(ws, { identity_secret: 'known to the site' });
  const forged = { 'user-id': 'mia', 'user-hash': '0'.repeat(64) };
  const { context, page } = await openSite(tag(channel.id, forged));
  await launcher(page).click();
  await page.getByText('This chat is not available at the moment.').waitFor();
  await context.close();
});

test('the keyboard is enough: Tab, Enter, Shift+Enter, Escape, and the focus is where one expects it', async () => {
  const channel = await makeWebchat(ws);
  const { context, page } = await openSite(tag(channel.id));
  await page.keyboard.press('Tab');
  assert.ok(await isFocused(launcher(page)));
  await page.keyboard.press('Enter');
  assert.ok(await isFocused(input(page)));
  await page.keyboard.type('line one');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('line two');
  await page.keyboard.press('Enter');
  await stored(page).waitFor();
  assert.deepEqual(await customerMessages(channel.id), ['line one\nline two']);
  assert.equal(await input(page).inputValue(), '');
  assert.ok(await isFocused(input(page)));
  await page.keyboard.press('Shift+Tab');
  assert.ok(
    await isFocused(page.locator('inbox-webchat .log')),
    'the conversation can be scrolled by keyboard',
  );
  await page.keyboard.press('Shift+Tab');
  assert.ok(await isFocused(page.locator('inbox-webchat .close')));
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('inbox-webchat .panel').isVisible(), false);
  assert.ok(await isFocused(launcher(page)));
  await context.close();
});

test('a screen reader is told what everything is', async () => {
  const channel = await makeWebchat(ws);
  const { context, page } = await openSite(tag(channel.id, { title: 'Ask us' }));
  assert.equal(await launcher(page).getAttribute('aria-expanded'), 'false');
  await launcher(page).click();
  assert.equal(await launcher(page).getAttribute('aria-expanded'), 'true');
  await write(page, 'Hello');
  await stored(page).waitFor();
  await sendMessage(grace, await theConversation(channel.id), { content: 'Hello yourself' });
  await shown(page, 2);
  const dialog = page.getByRole('dialog', { name: 'Ask us' });
  await dialog.getByRole('button', { name: 'Close chat' }).waitFor();
  await dialog.getByRole('textbox', { name: 'Write a message…' }).waitFor();
  await dialog.getByRole('button', { name: 'Send' }).waitFor();
  const log = dialog.getByRole('log', { name: 'Conversation' });
  assert.equal(await log.getAttribute('aria-live'), 'polite');
  assert.match(await log.ariaSnapshot(), /You[^]*Hello[^]*Grace Hopper[^]*Hello yourself/);
  assert.equal(await page.locator('inbox-webchat [role=status]').count(), 1);
  await context.close();
});

/** Of what is read against what lies behind it, as WCAG counts it. Runs in the page. */
function contrastOf(element: Data): number {
  const { getComputedStyle } = element.ownerDocument.defaultView;
  const numbers = (color: string): number[] => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (color: string): number => {
    const [red = 0, green = 0, blue = 0] = numbers(color).map((part) =>
      part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  let behind = element;
  while (numbers(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
  const pseudo = element.matches('textarea') ? '::placeholder' : null;
  const ink = luminance(getComputedStyle(element, pseudo).color);
  const paper = luminance(getComputedStyle(behind).backgroundColor);
  return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`every text has a contrast of 4.5 and more, ${colorScheme}, whatever the site’s colour`, async () => {
    for (const color of ['', '#ffd400', '#777777']) {
      const channel = await makeWebchat(ws);
      const { context, page } = await openSite(tag(channel.id, { color }), { colorScheme });
      await launcher(page).click();
      await write(page, 'Hello');
      await stored(page).waitFor();
      await sendMessage(grace, await theConversation(channel.id), { content: 'See https://example.com' });
      await shown(page, 2);
      const places = [
        'h2',
        '.welcome',
        '.visitor .text',
        '.agent .text',
        '.agent a',
        '.author',
        '.meta',
        '.day',
        'textarea',
      ];
      for (const place of places) {
        const contrast = await page.locator(`inbox-webchat ${place}`).first().evaluate(contrastOf);
        assert.ok(contrast >= 4.5, `${place} on ${color}: ${contrast}`);
      }
      await context.close();
    }
  });
}

test('on a telephone the window fills the screen', async () => {
  const channel = await makeWebchat(ws);
  const viewport = { width: 390, height: 780 };
  const { context, page } = await openSite(tag(channel.id), {
    viewport,
    isMobile: true,
    hasTouch: true,
    reducedMotion: 'reduce',
  });
  await launcher(page).tap();
  const box = await page.locator('inbox-webchat .panel').boundingBox();
  assert.deepEqual([box?.x, box?.y], [0, 0]);
  assert.ok(box!.width >= viewport.width);
  assert.equal(await launcher(page).isVisible(), false);
  await page.locator('inbox-webchat .close').tap();
  assert.ok(await launcher(page).isVisible());
  await context.close();
});

test('whoever wants less motion gets none', async () => {
  const channel = await makeWebchat(ws);
  const { context, page } = await openSite(tag(channel.id), { reducedMotion: 'reduce' });
  await launcher(page).click();
  assert.equal((await styleOf(page.locator('inbox-webchat .panel'))).animationName, 'none');
  assert.equal((await styleOf(launcher(page))).transitionDuration, '0s');
  await context.close();
});

test('script in any text field is text: it does not run, and makes no element', async () => {
  const attack = `<img src=x onerror="window.ran=1"><script>window.ran=1</script>"'><svg onload=window.ran=1>`;
  const mallory = await makeAgent(ws, { name: attack });
  const malloryKey = await ws.makeKey({ agentId: fromId('agent', mallory.id)! });
  const secret = 'known to the site';
  const channel = await makeWebchat(ws, { identity_secret: secret });
  const user = { 'user-id': attack, 'user-hash': identityHash(attack, secret), 'user-name': attack };
  const { context, page, errors } = await openSite(
    tag(channel.id, { ...user, title: attack, color: attack, language: attack }),
  );
  await launcher(page).click();
  await write(page, attack);
  await stored(page).waitFor();
  await ws.request(
    'POST',
    `/conversations/${await theConversation(channel.id)}/messages`,
    {
      content: `${attack} javascript:window.ran=1 https://example.com/"onmouseover="window.ran=1`,
      attachments: [{ url: 'https://93.184.215.14/a', content_type: 'text/html', file_name: attack }],
    },
    { key: malloryKey },
  );
  await service.sql(
    `update messages set attachments = attachments || '[{"url":"javascript:window.ran=1","content_type":"image/png",
       "file_name":"picture"},{"url":"data:text/html,x","content_type":"text/html","file_name":"page"}]'
     where type = 'outgoing' and content like '%javascript:%'`,
  );
  await shown(page, 2);
  await page.reload();
  await shown(page, 2);
  assert.deepEqual((await bubbles(page).allInnerTexts())[0], attack);
  assert.equal(
    await page.locator('inbox-webchat img, inbox-webchat script, inbox-webchat .log svg').count(),
    0,
  );
  for (const link of await page.locator('inbox-webchat a').all()) {
    assert.match((await link.getAttribute('href')) ?? '', /^https?:\/\//);
    assert.match((await link.getAttribute('rel')) ?? '', /noopener/);
  }
  assert.equal(await page.evaluate('window.ran'), undefined);
  assert.deepEqual(errors, []);
  await context.close();
});

test('addresses become links that open elsewhere, without the full stop behind them; pictures are shown, files are links', async () => {
  const channel = await makeWebchat(ws);
  const { context, page } = await openSite(tag(channel.id));
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await page.route('https://93.184.215.14/*', (route) =>
    route.fulfill({ contentType: 'image/png', body: Buffer.from(pixel, 'base64') }),
  );
  await launcher(page).click();
  await write(page, 'Hi');
  await stored(page).waitFor();
  await sendMessage(grace, await theConversation(channel.id), {
    content: 'See https://example.com/a?b=1 (or http://example.org).',
    attachments: [
      { url: 'https://93.184.215.14/cat.png', content_type: 'image/png', file_name: 'cat.png' },
      { url: 'https://93.184.215.14/terms.pdf', content_type: 'application/pdf', file_name: 'terms.pdf' },
    ],
  });
  await shown(page, 2);
  const links = await page.locator('inbox-webchat a').all();
  const hrefs = await Promise.all(links.map((link) => link.getAttribute('href')));
  assert.deepEqual(hrefs, [
    'https://example.com/a?b=1',
    'http://example.org',
    'https://93.184.215.14/cat.png',
    'https://93.184.215.14/terms.pdf',
  ]);
  await page.getByRole('img', { name: 'cat.png' }).waitFor();
  await page.getByRole('link', { name: /terms\.pdf/ }).waitFor();
  await context.close();
});

test('a strict Content-Security-Policy of the site is enough: only the service’s origin for script and connections', async () => {
  const channel = await makeWebchat(ws);
  const { context, page } = await openSite(tag(channel.id));
  const broken: string[] = [];
  page.on('console', (message) => message.type() === 'error' && broken.push(message.text()));
  site.page.policy = `default-src 'none'; script-src ${service.origin}; connect-src ${service.origin}`;
  await page.goto(site.origin);
  await launcher(page).click();
  await write(page, 'under a policy');
  await stored(page).waitFor();
  assert.equal((await page.locator('inbox-webchat .panel').boundingBox())?.width, 380, 'it has its styles');
  assert.deepEqual(
    broken.filter((text) => !text.includes('favicon')),
    [],
  );
  await context.close();
});

test('who does not open the chat costs nothing: no request to the channel, nothing stored', async () => {
  const channel = await makeWebchat(ws);
  site.page.html = tag(channel.id);
  const context = await browser.newContext();
  const page = await context.newPage();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(site.origin, { waitUntil: 'networkidle' });
  await launcher(page).waitFor();
  assert.deepEqual(
    asked.filter((url) => url.includes('/v1/channels/')),
    [],
  );
  assert.equal(await page.evaluate('localStorage.length + document.cookie.length'), 0);
  await context.close();
});

test('a browser that keeps nothing can still chat', async () => {
  const channel = await makeWebchat(ws);
  site.page.html = tag(channel.id);
  const context = await browser.newContext();
  context.setDefaultTimeout(patienceMs);
  await context.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
    Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError'); } });`);
  const page = await context.newPage();
  await page.goto(site.origin);
  await launcher(page).click();
  await write(page, 'without a memory');
  await stored(page).waitFor();
  await sendMessage(grace, await theConversation(channel.id), { content: 'never mind' });
  assert.deepEqual(await shown(page, 2), ['without a memory', 'never mind']);
  await context.close();
});

test('earlier messages come on demand, above the others, and the reader stays where they were', async () => {
  const channel = await makeWebchat(ws);
  const { context, page } = await openSite(tag(channel.id));
  await launcher(page).click();
  await write(page, 'question');
  await stored(page).waitFor();
  const conversation = await theConversation(channel.id);
  for (let count = 1; count <= 60; count++)
    await sendMessage(grace, conversation, { content: `answer ${count}` });
  await page.reload();
  assert.equal((await shown(page, 50)).at(0), 'answer 11');
  const earliest = bubbles(page).first();
  await earliest.scrollIntoViewIfNeeded();
  const before = await earliest.boundingBox();
  await page.getByRole('button', { name: 'Show earlier messages' }).click();
  const all = await shown(page, 61);
  assert.deepEqual(all, ['question', ...Array.from({ length: 60 }, (_, place) => `answer ${place + 1}`)]);
  const after = await bubbles(page).nth(11).boundingBox();
  assert.ok(Math.abs(after!.y - before!.y) < 60, `it moved by ${after!.y - before!.y}`);
  assert.equal(await page.getByRole('button', { name: 'Show earlier messages' }).count(), 0);
  await context.close();
});

test('an unknown channel and a site that is not allowed are told so or kept quiet, and never break the page', async () => {
  const unknown = await openSite(tag('ch_nonsense'));
  await launcher(unknown.page).click();
  await unknown.page.getByText('This chat is not available at the moment.').waitFor();
  const closed = await makeWebchat(ws, { allowed_origins: ['https://elsewhere.example.com'] });
  const refused = await openSite(tag(closed.id));
  await launcher(refused.page).click();
  await refused.page.getByText('Connecting…').waitFor();
  for (const { context, errors } of [unknown, refused]) {
    assert.deepEqual(errors, []);
    await context.close();
  }
});

test('the widget speaks the language of the page, or the one it is told', async () => {
  const channel = await makeWebchat(ws);
  const { context, page } = await openSite(tag(channel.id, { language: 'de-AT' }));
  await page.getByRole('button', { name: 'Chat öffnen' }).click();
  await page.getByRole('textbox', { name: 'Nachricht schreiben…' }).waitFor();
  await context.close();
});

test('the demo page chats under its own policy', async () => {
  const channel = await makeWebchat(ws, { allowed_origins: ['https://elsewhere.example.com'] });
  const context = await browser.newContext();
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  await page.goto(`${service.origin}/v1/webchat/demo?channel=${channel.id}`);
  await launcher(page).click();
  await write(page, 'a trial');
  await stored(page).waitFor();
  assert.deepEqual(await customerMessages(channel.id), ['a trial']);
  await context.close();
});

test('a tab in the background lets go of its stream, and catches up as soon as it is seen again', async () => {
  const channel = await makeWebchat(ws);
  const { context, page } = await openSite(tag(channel.id));
  await page.clock.install();
  await page.reload();
  await launcher(page).click();
  await write(page, 'Hi');
  await stored(page).waitFor();
  const see = (state: 'visible' | 'hidden') =>
    page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));`);
  const letGo = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/events'));
  await see('hidden');
  await page.clock.fastForward(6_000);
  await letGo;
  await sendMessage(grace, await theConversation(channel.id), { content: 'while you were away' });
  assert.equal(await bubbles(page).count(), 1);
  await see('visible');
  assert.deepEqual(await shown(page, 2), ['Hi', 'while you were away']);
  await context.close();
});

test('a session that has ended becomes a new one, and what was written goes with it', async () => {
  const channel = await makeWebchat(ws);
  const { context, page } = await openSite(tag(channel.id));
  const kept = {
    token: (await visit(service, (await makeWebchat(ws)).id)).token,
    expires_at: '2100-01-01T00:00:00.000Z',
  };
  await page.evaluate(
    `localStorage.setItem('inbox:${channel.id}:visitor:session', ${JSON.stringify(JSON.stringify(kept))})`,
  );
  await page.reload();
  await launcher(page).click();
  await write(page, 'still here');
  await stored(page).waitFor();
  assert.deepEqual(await customerMessages(channel.id), ['still here']);
  await context.close();
});
