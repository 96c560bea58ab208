import { parseAddress } from '../egress/addresses.ts';

/**
 * Who counts as one client: an IPv4 address, or an IPv6 network of 2^64 addresses, as one customer is usually given.
 * What a proxy wrote and is no address is all one client.
 */
export function networkOf(ip: string): string {
  const bytes = parseAddress(ip.replace(/%.*$/, '')); // a link-local address names its interface
  if (bytes === undefined) return 'unknown';
  if (bytes.length === 4) return bytes.join('.');
  return `${Buffer.from(bytes.subarray(0, 8)).toString('hex')}::/64`;
}
