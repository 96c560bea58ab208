import { Resolver } from 'node:dns/promises';
import { readFile, stat } from 'node:fs/promises';
import { parseAddress } from './addresses.ts';

/** All addresses of a name, or an error. `dns.promises.lookup` fits too. */
export type Lookup = (hostname: string, options: { all: true }) => Promise<{ address: string }[]>;

export interface LookupOptions {
  hostsFile?: string;
  servers?: string[];
  timeoutMs?: number;
}

/**
 * The hosts file, then DNS, asked by Node itself. `dns.lookup` would block one of libuv's four threads for as long as
 * a tenant's name server likes to be silent: four such names, and nobody's names resolve, PostgreSQL's included.
 * The price: names are asked as they are written, without the search list of resolv.conf.
 */
export function createLookup({
  hostsFile = '/etc/hosts',
  servers,
  timeoutMs = 3_000,
}: LookupOptions = {}): Lookup {
  const hosts = createHosts(hostsFile);
  return async (hostname) => {
    const listed = (await hosts()).get(hostname.toLowerCase().replace(/\.$/, ''));
    const addresses = listed ?? (await ask(hostname, servers, timeoutMs));
    return addresses.map((address) => ({ address }));
  };
}

/** One of A and AAAA is enough: only what was answered is ever connected to. */
async function ask(hostname: string, servers: string[] | undefined, timeoutMs: number): Promise<string[]> {
  // A resolver of its own (0.04 ms) can be cancelled alone, and follows a change of resolv.conf.
  const resolver = new Resolver({ timeout: 1_000, tries: 2 });
  if (servers) resolver.setServers(servers);
  const timer = setTimeout(() => resolver.cancel(), timeoutMs);
  try {
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
    return [four, six].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  } finally {
    clearTimeout(timer);
  }
}

/** Read again only when it changed. A machine without the file has no names in it. */
function createHosts(file: string): () => Promise<Map<string, string[]>> {
  let readAt: number | undefined;
  let names = new Map<string, string[]>();
  return async () => {
    const changedAt = await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    );
    if (changedAt === readAt) return names;
    names = changedAt === undefined ? new Map() : parseHosts(await readFile(file, 'utf8'));
    readAt = changedAt;
    return names;
  };
}

function parseHosts(text: string): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...listed] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (!parseAddress(address)) continue;
    for (const name of listed.map((each) => each.toLowerCase())) {
      names.set(name, [...(names.get(name) ?? []), address]);
    }
  }
  return names;
}
