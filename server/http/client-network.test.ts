import assert from 'node:assert/strict';
import test from 'node:test';
import { networkOf } from './client-network.ts';

test('addresses of one IPv6 /64 are one client, however they are written', () => {
  const same = [
    '2001:db8::1',
    '2001:db8::2',
    '2001:DB8:0:0::ffff',
    '2001:0db8:0000:0000:0000:0000:0000:0001',
  ];
  assert.equal(new Set(same.map(networkOf)).size, 1);
  const apart = ['2001:db8::1', '2001:db8:0:1::1', '2001:db8:1::1', '2001:db9::1', '::1', 'fe80::1'];
  assert.equal(new Set(apart.map(networkOf)).size, apart.length);
});

test('every IPv4 address is a client of its own, also when it is written as an IPv6 one', () => {
  assert.notEqual(networkOf('192.0.2.1'), networkOf('192.0.2.2'));
  assert.equal(networkOf('::ffff:192.0.2.1'), networkOf('192.0.2.1'));
  assert.notEqual(networkOf('::ffff:192.0.2.1'), networkOf('::ffff:192.0.2.2'));
});

test('the interface of a link-local address does not matter', () => {
  assert.equal(networkOf('fe80::1%eth0'), networkOf('fe80::2'));
});

test('what is no address is all one client, so that nobody becomes many by making things up', () => {
  assert.equal(networkOf('unknown'), networkOf('203.0.113.7:4711'));
  assert.equal(networkOf(''), networkOf('x'.repeat(10_000)));
});
