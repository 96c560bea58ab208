import assert from 'node:assert/strict';
import test from 'node:test';
import {
  assertError,
  create,
  eventsOf,
  makeChannel,
  makeContact,
  makeConversation,
  makeTemplate,
  messagesOf,
  patchConversation,
  read,
  receive,
  sendMessage,
} from '../factory.ts';
import { startService } from '../harness.ts';

const service = await startService();
const ws = await service.workspace();
const channel = await makeChannel(ws);
const conversation = await makeConversation(ws, { channel_id: channel.id });

/** Valid Unicode that software likes to lose, to reorder or to normalise. */
const texts: [what: string, text: string][] = [
  ['emoji', 'a😀b👩‍👩‍👧‍👦c🏳️‍🌈d👍🏽'],
  ['line and paragraph separators', 'a\u2028b\u2029c'],
  ['text from right to left', 'שלום עליכם مرحبا بالعالم'],
  ['direction marks', 'a\u202Eb\u202Cc\u200F\u200E'],
  ['combining marks, not composed', 'e\u0301 n\u0303 o\u0308\u0304'],
  ['the same letters composed', '\u00e9 \u00f1 \u022b'],
  ['zero-width characters', 'a\u200Bb\u200Cc\u200Dd\uFEFFe'],
  ['control characters', 'a\u0001b\u0007c\u001Fd\u007Fe\u0085f'],
  ['tabs and line ends', 'a\tb\nc\r\nd'],
  ['noncharacters', 'a\uFFFEb\uFFFFc\u{10FFFF}d'],
  ['private use', 'a\uE000b\u{F0000}c'],
  ['the replacement character', 'a\uFFFDb'],
  ['four-byte letters', '𝒜𠜎𓀀'],
  ['quotes and backslashes', `a"b'c\\d\`e\\u0041\\n%s{{}}$1`],
  ['HTML', '<script>alert(1)</script>&amp;'],
];

for (const [what, text] of texts) {
  test(`${what}: a message, its event and its list come back byte for byte`, async () => {
    const bytes = Buffer.from(text);
    const sent = await sendMessage(ws, conversation.id, { content: text });
    assert.deepEqual(Buffer.from(sent.content), bytes);
    assert.deepEqual(Buffer.from((await messagesOf(ws, conversation.id)).at(-1).content), bytes);
    const event = (await eventsOf(service, ws, 'message.created')).at(-1);
    assert.deepEqual(Buffer.from(event.data.message.content), bytes);
    const incoming = await receive(ws, channel.id, { from: { external_id: text }, content: text });
    assert.deepEqual(Buffer.from(incoming.message.content), bytes);
  });

  test(`${what}: name, company, tags and custom attributes of a contact come back byte for byte`, async () => {
    const given = {
      name: text,
      company: text,
      tags: [`${text}.`],
      custom_attributes: { [text]: [text, { a: text }] },
    };
    const { id } = await makeContact(ws, given);
    const { name, company, tags, custom_attributes } = await read(ws, `/contacts/${id}`);
    assert.deepEqual({ name, company, tags, custom_attributes }, given);
  });
}

for (const [what, text] of texts.filter(([, text]) => !text.includes('\u001f'))) {
  test(`${what}: a contact is found by q, by tag and a conversation by label`, async () => {
    const own = await service.workspace();
    const contact = await makeContact(own, { name: text, tags: [`${text}.`] });
    const { id } = await makeConversation(own, { contact_id: contact.id });
    await patchConversation(own, id, { labels: [`${text}.`] });
    const asked = encodeURIComponent(text);
    const found = [
      await read(own, `/contacts?q=${asked}`),
      await read(own, `/contacts?tag=${asked}.`),
      await read(own, `/conversations?label=${asked}.`),
    ];
    assert.deepEqual(
      found.map((list) => list.map((one: { id: string }) => one.id)),
      [[contact.id], [contact.id], [id]],
    );
  });
}

test('a template keeps its text and its variables byte for byte', async () => {
  const template = await makeTemplate(ws, { body: 'e\u0301\u2028{{имя}}😀' });
  const { content } = await sendMessage(ws, conversation.id, {
    template_id: template.id,
    template_variables: { имя: 'o\u0308 👩‍👧' },
  });
  assert.equal(content, 'e\u0301\u2028o\u0308 👩‍👧😀');
});

test('composed and combining letters are different tags', async () => {
  const { tags } = await makeContact(ws, { tags: ['\u00e9', 'e\u0301'] });
  assert.deepEqual(tags, ['\u00e9', 'e\u0301']);
});

test('escapes in JSON mean the characters they name', async () => {
  const answer = await ws.request('POST', '/contacts', undefined, {
    raw: '{"name":"\\ud83d\\ude00\\u00e9\\u2028"}',
  });
  assert.equal(answer.body.data.name, '😀é\u2028');
});

const raw = (text: string | Uint8Array<ArrayBuffer>) =>
  ws.request('POST', '/contacts', undefined, { raw: text });
const bytes = (...pieces: (string | number[])[]) =>
  new Uint8Array(pieces.flatMap((piece) => (typeof piece === 'string' ? [...Buffer.from(piece)] : piece)));

const escaped: [what: string, json: string][] = [
  ['NUL in a value', '{"name":"a\\u0000b"}'],
  ['NUL in a key', '{"name":"a","custom_attributes":{"a\\u0000":1}}'],
  ['NUL deep inside', '{"name":"a","custom_attributes":{"a":[{"b":"\\u0000"}]}}'],
  ['NUL in a tag', '{"name":"a","tags":["\\u0000"]}'],
  ['NUL in a field that is ignored', '{"name":"a","other":"\\u0000"}'],
  ['half a surrogate pair, the first', '{"name":"a\\ud83d"}'],
  ['half a surrogate pair, the second', '{"name":"\\ude00b"}'],
  ['a surrogate pair the wrong way round', '{"name":"\\ude00\\ud83d"}'],
  ['half a surrogate pair in a key', '{"name":"a","custom_attributes":{"\\ud83d":1}}'],
];

for (const [what, json] of escaped) {
  test(`${what} answers 400`, async () => {
    assertError(await raw(json), 400);
  });
}

const invalid: [what: string, piece: number[]][] = [
  ['a lone continuation byte', [0x80]],
  ['a byte that is never used', [0xff]],
  ['a sequence cut short', [0xe2, 0x82]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['an overlong NUL', [0xc0, 0x80]],
  ['a surrogate in UTF-8', [0xed, 0xa0, 0x80]],
  ['a code point beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
];

for (const [what, piece] of invalid) {
  test(`invalid UTF-8 (${what}) in a body answers 400 and is never replaced`, async () => {
    assertError(await raw(bytes('{"name":"a', piece, 'b"}')), 400);
  });

  test(`invalid UTF-8 (${what}) in a query answers 400`, async () => {
    const encoded = piece.map((byte) => `%${byte.toString(16)}`).join('');
    for (const path of [
      `/contacts?q=${encoded}`,
      `/contacts?tag=${encoded}`,
      `/conversations?label=${encoded}`,
    ]) {
      assertError(await ws.request('GET', path), 400);
    }
  });
}

test('a raw NUL byte in JSON answers 400', async () => {
  assertError(await raw(bytes('{"name":"a', [0], 'b"}')), 400);
});

test('UTF-16 answers 400', async () => {
  assertError(await raw(new Uint8Array(Buffer.from('{"name":"Ada"}', 'utf16le'))), 400);
});

test('a NUL in a query answers 400', async () => {
  for (const path of [
    '/contacts?q=%00',
    '/contacts?tag=a%00',
    '/conversations?label=%00',
    '/contacts?other=%00',
  ]) {
    assertError(await ws.request('GET', path), 400);
  }
});

test('a query with a broken percent sign answers 400', async () => {
  for (const query of ['q=%', 'q=%zz', 'q=100%'])
    assertError(await ws.request('GET', `/contacts?${query}`), 400);
});

test('a message with NUL or half a surrogate pair is refused and nothing is stored', async () => {
  const { id } = await makeConversation(ws);
  for (const content of ['"\\u0000"', '"\\ud800"']) {
    const answer = await ws.request('POST', `/conversations/${id}/messages`, undefined, {
      raw: `{"content":${content}}`,
    });
    assertError(answer, 400);
  }
  assert.deepEqual(await messagesOf(ws, id), []);
});

test('the other resources keep their names byte for byte', async () => {
  const name = 'Zoë 😀 e\u0301\u2028.';
  for (const [path, body] of [
    ['/channels', { type: 'api', name }],
    ['/agents', { name }],
    ['/teams', { name }],
    ['/templates', { name, body: name }],
    ['/labels', { name }],
    ['/api_keys', { name }],
  ] as [string, object][]) {
    assert.equal((await create(ws, path, body)).name, name);
  }
});
