import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Agent, fetch, request } from 'undici';
import * as fc from 'fast-check';
import { ApiError } from '../errors.ts';
import { createEgress, refusalOf } from './guard.ts';
import type { Lookup } from './lookup.ts';

const closed = { egressAllow: [], allowHttpWebhooks: false };
const neverAsked: Lookup = (name) => assert.fail(`DNS was asked for ${name}`);
const says =
  (...addresses: string[]): Lookup =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address })));
const unknown: Lookup = () =>
  Promise.reject(Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' }));
const silent: Lookup = () => new Promise(() => {});

async function refusedAs(rule: string, promise: Promise<unknown>, what?: string): Promise<void> {
  await assert.rejects(
    promise,
    (error) =>
      error instanceof ApiError && error.code === 'validation_error' && error.details[0]?.rule === rule,
    what,
  );
}

async function blockedAtConnection(lookup: Lookup, url: string): Promise<void> {
  const agent = new Agent({ connect: createEgress(closed, { lookup }).connector });
  await assert.rejects(request(url, { dispatcher: agent }), { code: 'blocked_address' }, url);
  await agent.close();
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

const forbiddenIPv4 = words(`
  0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254
  168.63.129.16 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1
  192.88.99.1 192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1
  239.255.255.255 240.0.0.1 255.255.255.255
`);
const forbiddenIPv6 = words(`
  :: ::1 0:0:0:0:0:0:0:1 0000:0000:0000:0000:0000:0000:0000:0001 ::127.0.0.1 ::7f00:1 ::8.8.8.8
  ::ffff:127.0.0.1 ::ffff:7f00:1 0:0:0:0:0:ffff:a9fe:a9fe ::FFFF:10.0.0.1 ::ffff:0:127.0.0.1
  64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1 100::1 100:0:0:1::1 2001::1
  2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::
  2002:a9fe:a9fe::1 2002:808:808::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fd20:ce::254 fe80::1 febf::1
  fec0::1 ff02::1 ff0e::1 4000::1 e000::1 1::1
`);
const publicIPv4 = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.215.14',
  '172.32.0.1',
  '192.0.1.1',
  '198.20.0.1',
  '223.255.255.255',
];
const publicIPv6 = [
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
  '2a00:1450::1',
  '2003::1',
  '::ffff:8.8.8.8',
];

const hex = (value: number) => value.toString(16);
const octal = (value: number) => `0${value.toString(8)}`;
/** The same digits, of another script. */
const inScript = (zero: string, text: string) =>
  text.replaceAll(/\d/g, (digit) => String.fromCodePoint((zero.codePointAt(0) ?? 0) + Number(digit)));

/** Every way a browser's URL reads as this IPv4 address, and the IPv6 forms that stand for it. */
function spellings(dotted: string): string[] {
  const bytes = dotted.split('.').map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  return [
    dotted,
    `${dotted}.`,
    String(whole),
    octal(whole),
    `0x${hex(whole)}`,
    `0X${hex(whole).toUpperCase().padStart(12, '0')}`,
    bytes.map(octal).join('.'),
    bytes.map((byte) => `0x${hex(byte)}`).join('.'),
    `${octal(a)}.${b}.0x${hex(c)}.${d}`,
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `0x${hex(a)}.${octal((b * 256 + c) * 256 + d)}`,
    inScript('０', dotted),
    inScript('𝟎', dotted),
    dotted.replaceAll('.', '。'),
    dotted.replaceAll('.', '．'),
    dotted.replaceAll('.', '%2e'),
    Buffer.from(dotted).toString('hex').replaceAll(/../g, '%$&'),
    dotted.replace('.', '\u00AD.'),
    `[::ffff:${dotted}]`,
    `[::FFFF:${hex(a * 256 + b)}:${hex(c * 256 + d)}]`,
    `[0000:0000:0000:0000:0000:ffff:${dotted}]`,
  ];
}

test('no spelling of a forbidden address can be registered or called, and DNS is not asked', async () => {
  const egress = createEgress(closed, { lookup: neverAsked });
  for (const address of forbiddenIPv4) {
    for (const host of spellings(address)) {
      for (const url of [`https://${host}/hook`, `https://${host}:8443/`]) {
        await refusedAs('public_address', egress.checkUrl('url', url), url);
        await blockedAtConnection(neverAsked, url);
      }
    }
  }
  for (const address of forbiddenIPv6) {
    const url = `https://[${address}]/hook`;
    await refusedAs('public_address', egress.checkUrl('url', url), url);
    await blockedAtConnection(neverAsked, url);
  }
});

test('every spelling of a public address can be registered', async () => {
  const egress = createEgress(closed, { lookup: neverAsked });
  for (const address of publicIPv4) {
    for (const host of spellings(address)) await egress.checkUrl('url', `https://${host}/hook`);
  }
  for (const address of publicIPv6) await egress.checkUrl('url', `https://[${address}]:9443/hook`);
});

test('whatever numbers a URL writes as its host, it is accepted only as a public address', async () => {
  const egress = createEgress(closed, { lookup: neverAsked });
  const byte = fc.nat({ max: 255 });
  const accepts = (host: string) =>
    egress.checkUrl('url', `https://${host}/`).then(
      () => true,
      () => false,
    );
  await fc.assert(
    fc.asyncProperty(fc.tuple(byte, byte, byte, byte), fc.nat(), async (bytes, pick) => {
      const all = spellings(bytes.join('.'));
      assert.equal(await accepts(all[pick % all.length] ?? ''), await accepts(bytes.join('.')));
    }),
    { numRuns: 1_000 },
  );
});

test('a forbidden address in a DNS answer is refused: alone, before and after a public one', async () => {
  for (const bad of [...forbiddenIPv4, ...forbiddenIPv6, 'fe80::1%eth0', 'rubbish', '']) {
    for (const answers of [[bad], ['8.8.8.8', bad], [bad, '8.8.8.8'], ['2606:4700::1111', '1.1.1.1', bad]]) {
      const lookup = says(...answers);
      await refusedAs(
        'public_address',
        createEgress(closed, { lookup }).checkUrl('url', 'https://hook.test/'),
        bad,
      );
      await blockedAtConnection(lookup, 'https://hook.test/');
    }
  }
});

test('public DNS answers are accepted', async () => {
  const egress = createEgress(closed, { lookup: says(...publicIPv4, ...publicIPv6) });
  assert.equal((await egress.checkUrl('url', 'https://hook.test')).href, 'https://hook.test/');
});

test('localhost is refused in every spelling, and DNS is not asked', async () => {
  const egress = createEgress(closed, { lookup: neverAsked });
  const hosts = [
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'a.b.localhost.',
    'ｌocalhost',
    'loc%61lhost',
  ];
  for (const host of hosts) {
    await refusedAs('public_address', egress.checkUrl('url', `https://${host}/`), host);
    await blockedAtConnection(neverAsked, `https://${host}/`);
  }
});

test('a name that does not resolve now, or not in time, is accepted', async () => {
  for (const lookup of [unknown, says()]) {
    await createEgress(closed, { lookup }).checkUrl('url', 'https://later.test/');
  }
  const startedAt = performance.now();
  await createEgress(closed, { lookup: silent }).checkUrl('url', 'https://silent.test/');
  assert.ok(performance.now() - startedAt < 3_000);
});

test('a name that does not resolve fails the connection as dns', async () => {
  for (const lookup of [unknown, says()]) {
    const dispatcher = new Agent({ connect: createEgress(closed, { lookup }).connector });
    await assert.rejects(request('https://nowhere.test/', { dispatcher }), { code: 'dns' });
  }
});

test('a refusal is recognised behind request and behind fetch, and names no address', async () => {
  const dispatcher = new Agent({ connect: createEgress(closed, { lookup: says('10.1.2.3') }).connector });
  for (const call of [request, fetch]) {
    const error: unknown = await call('https://hook.test/', { dispatcher }).catch(
      (caught: unknown) => caught,
    );
    assert.equal(refusalOf(error), 'blocked_address');
    assert.doesNotMatch(inspect(error), /10\.1\.2\.3/);
  }
  assert.equal(refusalOf(new Error('other')), undefined);
});

test('only https can be registered and called, http where the operator allows it', async () => {
  const strict = createEgress(closed, { lookup: says('8.8.8.8') });
  for (const url of [
    'http://hook.test/',
    'ftp://hook.test/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'ws://a.test',
  ]) {
    await refusedAs('scheme', strict.checkUrl('url', url), url);
  }
  await blockedAtConnection(says('8.8.8.8'), 'http://hook.test/');
  const loose = createEgress({ ...closed, allowHttpWebhooks: true }, { lookup: says('8.8.8.8') });
  await loose.checkUrl('url', 'http://hook.test/');
  await refusedAs('scheme', loose.checkUrl('url', 'ftp://hook.test/'));
});

test('what is no URL, has no proper host, carries credentials or is too long is refused', async () => {
  const egress = createEgress(closed, { lookup: says('8.8.8.8') });
  for (const url of [
    '',
    'hook',
    '/hook',
    'https://',
    'https://a b/',
    'https://1.2.3.4.5/',
    'https://[fe80::1%25eth0]/',
  ]) {
    await refusedAs('url', egress.checkUrl('url', url), url);
  }
  for (const host of [
    'a..test',
    '.a.test',
    'a.test..',
    '.',
    `${'a'.repeat(64)}.test`,
    'a.'.repeat(127) + 'test',
  ]) {
    await refusedAs('host', egress.checkUrl('url', `https://${host}/`), host);
  }
  for (const user of ['user', 'user:password', ':password']) {
    await refusedAs('credentials', egress.checkUrl('url', `https://${user}@hook.test/`), user);
  }
  const start = 'https://hook.test/';
  await egress.checkUrl('url', start.padEnd(2048, 'x'));
  await refusedAs('maxLength', egress.checkUrl('url', start.padEnd(2049, 'x')));
  await refusedAs('maxLength', egress.checkUrl('url', start.padEnd(1000, 'é')), 'encoded, it is longer');
});

test('the URL comes back normalised, without the fragment that no request carries', async () => {
  const egress = createEgress(closed, { lookup: says('8.8.8.8') });
  assert.equal(
    (await egress.checkUrl('url', 'HTTPS://Hook.Test:443/a/../b?c=d#e')).href,
    'https://hook.test/b?c=d',
  );
  assert.equal((await egress.checkUrl('url', 'https://hook.test.:8443/x')).href, 'https://hook.test.:8443/x');
  assert.equal((await egress.checkUrl('url', 'https://bücher.test/')).hostname, 'xn--bcher-kva.test');
});

test('a private network the operator opened can be registered, and only that one', async () => {
  const config = {
    egressAllow: ['10.1.0.0/16', 'fd00:1::/32', '::ffff:192.168.0.0/112'],
    allowHttpWebhooks: false,
  };
  const literals = createEgress(config, { lookup: neverAsked });
  for (const host of ['10.1.2.3', '0x0a010203', '[::ffff:10.1.2.3]', '[fd00:1::5]', '192.168.3.4']) {
    await literals.checkUrl('url', `https://${host}/`);
  }
  for (const host of [
    '10.2.0.1',
    '[fd00:2::5]',
    '127.0.0.1',
    '169.254.169.254',
    '[64:ff9b::a01:203]',
    'localhost',
  ]) {
    await refusedAs('public_address', literals.checkUrl('url', `https://${host}/`), host);
  }
  const names = createEgress(config, { lookup: says('10.1.2.3', '8.8.8.8') });
  await names.checkUrl('url', 'https://hook.test/');
  const mixed = createEgress(config, { lookup: says('10.1.2.3', '10.2.0.1') });
  await refusedAs('public_address', mixed.checkUrl('url', 'https://hook.test/'));
});
