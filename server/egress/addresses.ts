import { isIPv4, isIPv6 } from 'node:net';

/** Whether the public internet routes an address, by the IANA special-purpose registries. */
export function isPublic(address: Address): boolean {
  if (address.length === 4) return !forbiddenIPv4.some((range) => contains(range, address));
  return contains(globalUnicast, address) && !forbiddenIPv6.some((range) => contains(range, address));
}

/** In network order: 4 bytes, or 16. */
export type Address = Uint8Array;

/**
 * Reads what sockets and resolvers write; `new URL` has already brought every other spelling into this form.
 * An IPv4-mapped address is its IPv4 address, because that is where the kernel connects. Undefined is no address,
 * a zone id included: it names an interface of this machine.
 */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return bytesOfIPv4(text);
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const bytes = bytesOfIPv6(text);
  return contains(mapped, bytes) ? bytes.subarray(12) : bytes;
}

export interface Range {
  prefix: Uint8Array;
  bits: number;
}

/** `::ffff:10.0.0.0/104` is 10.0.0.0/8. Host bits are ignored, as everywhere CIDRs are written by hand. */
export function parseRange(cidr: string): Range {
  const [text = '', length = ''] = cidr.split('/');
  const prefix = parseAddress(text);
  const bits = prefix?.length === 4 && isIPv6(text) ? Number(length) - 96 : Number(length);
  if (!prefix || !/^\d+$/.test(length) || bits < 0 || bits > prefix.length * 8)
    throw new Error(`"${cidr}" is no CIDR`);
  return { prefix, bits };
}

export function contains({ prefix, bits }: Range, address: Address): boolean {
  if (prefix.length !== address.length) return false;
  const whole = bits >> 3;
  for (let index = 0; index < whole; index++) if (prefix[index] !== address[index]) return false;
  const rest = bits & 7;
  return rest === 0 || ((prefix[whole] ?? 0) ^ (address[whole] ?? 0)) >> (8 - rest) === 0;
}

function bytesOfIPv4(text: string): Uint8Array {
  return Uint8Array.from(text.split('.'), Number);
}

function bytesOfIPv6(text: string): Uint8Array {
  const [head = '', tail = ''] = text.split('::');
  const bytes = new Uint8Array(16);
  const last = bytesOfGroups(tail);
  bytes.set(bytesOfGroups(head));
  bytes.set(last, 16 - last.length);
  return bytes;
}

function bytesOfGroups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
}

const mapped: Range = { prefix: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0), bits: 96 };

/** IPv6 is refused unless it is here: IANA has given out nothing else for the public internet (RFC 4291). */
const globalUnicast = parseRange('2000::/3');

const forbiddenIPv4 = ranges({
  '0.0.0.0/8': 'this network, RFC 791',
  '10.0.0.0/8': 'private use, RFC 1918',
  '100.64.0.0/10': 'carrier-grade NAT, RFC 6598',
  '127.0.0.0/8': 'loopback, RFC 1122',
  '168.63.129.16/32': 'Azure WireServer: a public address that every Azure machine reaches as its host',
  '169.254.0.0/16': 'link-local and cloud metadata, RFC 3927',
  '172.16.0.0/12': 'private use, RFC 1918',
  '192.0.0.0/24': 'IETF protocol assignments, RFC 6890',
  '192.0.2.0/24': 'documentation, RFC 5737',
  '192.88.99.0/24': '6to4 relay anycast, RFC 7526',
  '192.168.0.0/16': 'private use, RFC 1918',
  '198.18.0.0/15': 'benchmarking, RFC 2544',
  '198.51.100.0/24': 'documentation, RFC 5737',
  '203.0.113.0/24': 'documentation, RFC 5737',
  '224.0.0.0/4': 'multicast, RFC 1112',
  '240.0.0.0/4': 'reserved, RFC 1112',
  '255.255.255.255/32': 'limited broadcast, RFC 919',
});

/**
 * Forms that carry an IPv4 address are refused whole: whether a translator on the way unpacks them is not ours to know.
 * The ranges outside 2000::/3 are refused already; they stand here so that the list can be held against the registry.
 */
const forbiddenIPv6 = ranges({
  '::/128': 'unspecified, RFC 4291',
  '::1/128': 'loopback, RFC 4291',
  '::/96': 'IPv4-compatible, RFC 4291',
  '::ffff:0:0:0/96': 'IPv4-translated, RFC 2765',
  '64:ff9b::/96': 'NAT64, RFC 6052',
  '64:ff9b:1::/48': 'local-use NAT64, RFC 8215',
  '100::/64': 'discard, RFC 6666',
  '100:0:0:1::/64': 'dummy prefix, RFC 9780',
  '2001::/23': 'IETF protocol assignments, RFC 2928',
  '2001::/32': 'Teredo, RFC 4380',
  '2001:2::/48': 'benchmarking, RFC 5180',
  '2001:10::/28': 'ORCHID, RFC 4843',
  '2001:20::/28': 'ORCHIDv2, RFC 7343',
  '2001:db8::/32': 'documentation, RFC 3849',
  '2002::/16': '6to4, RFC 3056',
  '3fff::/20': 'documentation, RFC 9637',
  '5f00::/16': 'segment routing, RFC 9602',
  'fc00::/7': 'unique local, RFC 4193',
  'fe80::/10': 'link-local, RFC 4291',
  'fec0::/10': 'site-local, RFC 3879',
  'ff00::/8': 'multicast, RFC 4291',
});

function ranges(named: Record<string, string>): Range[] {
  return Object.keys(named).map(parseRange);
}
