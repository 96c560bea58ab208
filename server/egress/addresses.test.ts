import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { contains, isPublic, parseAddress, parseRange } from './addresses.ts';

function verdict(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && isPublic(address);
}

function inside(cidr: string, text: string): boolean {
  return contains(parseRange(cidr), parseAddress(text) ?? assert.fail(text));
}

/** First and last of every forbidden range that has a public neighbour, and those neighbours. */
const edges: [lastPublic: string | null, first: string, last: string, nextPublic: string | null][] = [
  [null, '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
  ['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
  ['126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
  ['168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
  ['169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
  ['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
  ['191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
  ['192.0.1.255', '192.0.2.0', '192.0.2.255', '192.0.3.0'],
  ['192.88.98.255', '192.88.99.0', '192.88.99.255', '192.88.100.0'],
  ['192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
  ['198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
  ['198.51.99.255', '198.51.100.0', '198.51.100.255', '198.51.101.0'],
  ['203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'],
  ['223.255.255.255', '224.0.0.0', '255.255.255.255', null],
  [null, '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2000::'],
  [
    '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001::',
    '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:200::',
  ],
  ['2001:db7:ffff::', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ['2001:ffff::', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  ['3ffe:ffff::', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
  ['3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
];

test('every forbidden range ends exactly where the registry says', () => {
  for (const [before, first, last, next] of edges) {
    assert.equal(verdict(first), false, first);
    assert.equal(verdict(last), false, last);
    if (before !== null) assert.equal(verdict(before), true, before);
    if (next !== null) assert.equal(verdict(next), true, next);
  }
});

test('an IPv4-mapped address is judged as its IPv4 address, other carriers of IPv4 are refused', () => {
  assert.equal(verdict('::ffff:8.8.8.8'), true);
  assert.equal(verdict('::ffff:808:808'), true);
  assert.equal(verdict('0:0:0:0:0:FFFF:127.0.0.1'), false);
  assert.equal(verdict('::ffff:7f00:1'), false);
  for (const carrier of [
    '::8.8.8.8',
    '::ffff:0:808:808',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::808:808',
    '2002:808:808::',
  ]) {
    assert.equal(verdict(carrier), false, carrier);
  }
});

test('what is no plain address is not public', () => {
  for (const text of [
    '',
    'localhost',
    '8.8.8',
    '8.8.8.8 ',
    '08.8.8.8',
    '2606:4700::1111%eth0',
    '[2606:4700::1111]',
    '::g',
  ]) {
    assert.equal(parseAddress(text), undefined, text);
  }
});

/** Node's own lists know plain ranges well. They are two, because one would match IPv4 against the IPv6 ranges too. */
const oracle4 = blockList(
  'ipv4',
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
  192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3`,
);
const oracle6 = blockList('ipv6', '::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20');

function blockList(family: 'ipv4' | 'ipv6', cidrs: string): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs.split(/\s+/)) {
    const [address = '', bits] = cidr.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

const byte = fc.nat({ max: 255 });
/** Half of them near the interesting ranges: uniform addresses would almost never meet a /24. */
const ipv4 = fc.oneof(
  fc.tuple(byte, byte, byte, byte),
  fc.tuple(
    fc.constantFrom(0, 10, 100, 127, 168, 169, 172, 192, 198, 203, 224, 240, 255),
    fc.constantFrom(0, 15, 16, 18, 31, 51, 63, 64, 88, 127, 128, 168, 254, 255),
    fc.constantFrom(0, 1, 2, 99, 100, 113, 129),
    byte,
  ),
);
const group = fc.nat({ max: 0xffff });
const ipv6 = fc.tuple(
  fc.oneof(group, fc.constantFrom(0, 0x64, 0x100, 0x2000, 0x2001, 0x2002, 0x3ffe, 0x3fff, 0xfc00, 0xfe80)),
  fc.oneof(group, fc.constantFrom(0, 0x1ff, 0x200, 0xdb7, 0xdb8, 0xdb9, 0xfff, 0x1000, 0xff9b)),
  ...Array.from({ length: 6 }, () => fc.oneof(group, fc.constant(0))),
);

test('IPv4 is judged as Node’s block list judges it', () => {
  fc.assert(
    fc.property(ipv4, (bytes) => {
      const text = bytes.join('.');
      assert.equal(verdict(text), !oracle4.check(text, 'ipv4'));
      assert.equal(verdict(`::ffff:${text}`), !oracle4.check(text, 'ipv4'));
    }),
    { numRuns: 5_000 },
  );
});

test('IPv6 is judged as Node’s block list judges it, and every way to write it reads the same', () => {
  fc.assert(
    fc.property(ipv6, (groups) => {
      const expanded = groups.map((each) => each.toString(16).padStart(4, '0')).join(':');
      const compressed = new URL(`https://[${expanded}]`).hostname.slice(1, -1);
      const quad = [6, 7]
        .flatMap((index) => [(groups[index] ?? 0) >> 8, (groups[index] ?? 0) & 255])
        .join('.');
      const dotted = `${groups
        .slice(0, 6)
        .map((each) => each.toString(16))
        .join(':')}:${quad}`;
      const bytes = parseAddress(expanded);
      assert.deepEqual(bytes, Uint8Array.from(groups.flatMap((each) => [each >> 8, each & 255])));
      for (const spelling of [compressed, dotted, expanded.toUpperCase()])
        assert.deepEqual(parseAddress(spelling), bytes);
      assert.equal(verdict(expanded), !oracle6.check(expanded, 'ipv6'));
    }),
    { numRuns: 5_000 },
  );
});

test('a range contains what its first bits say, host bits or not, and a mapped one is IPv4', () => {
  assert.equal(inside('10.1.2.3/8', '10.9.9.9'), true);
  assert.equal(inside('10.0.0.0/8', '::ffff:10.9.9.9'), true);
  assert.equal(inside('::ffff:10.0.0.0/104', '10.9.9.9'), true);
  assert.equal(inside('10.0.0.0/8', '11.0.0.0'), false);
  assert.equal(inside('10.0.0.4/31', '10.0.0.5'), true);
  assert.equal(inside('10.0.0.4/31', '10.0.0.6'), false);
  assert.equal(inside('0.0.0.0/0', '255.1.2.3'), true);
  assert.equal(inside('::/0', '10.0.0.1'), false);
  assert.equal(inside('fd00::/9', 'fd7f::1'), true);
  assert.equal(inside('fd00::/9', 'fd80::1'), false);
  for (const cidr of [
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0/8',
    '::1/129',
    '::ffff:10.0.0.0/90',
    'fe80::%lo/64',
  ]) {
    assert.throws(() => parseRange(cidr), /is no CIDR/, cidr);
  }
});
