import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createLookup, type Lookup } from './lookup.ts';

const directory = await mkdtemp(join(tmpdir(), 'inbox-lookup-'));
after(() => rm(directory, { recursive: true }));
const hostsFile = join(directory, 'hosts');
await writeFile(
  hostsFile,
  '127.0.0.1 localhost\n10.0.0.5\tReceiver.Test alias.test # a comment.test\n::1 receiver.test\nrubbish\n',
);

const typeA = 1;
const typeAaaa = 28;
type Reply = 'silence' | 'no such name' | Buffer[];

/** A name server on the loopback that says to each question what the test wants. */
async function nameServer(reply: (name: string, type: number) => Reply): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const end = query.indexOf(0, 12) + 5;
    const type = query.readUInt16BE(end - 4);
    const said = reply(labels(query.subarray(12)), type);
    if (said === 'silence') return;
    const records = said === 'no such name' ? [] : said;
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(said === 'no such name' ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    const answers = records.map((data) =>
      Buffer.concat([Buffer.of(0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length), data]),
    );
    socket.send(Buffer.concat([header, query.subarray(12, end), ...answers]), from.port, from.address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  after(() => socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

function labels(bytes: Buffer): string {
  const length = bytes[0] ?? 0;
  if (length === 0) return '';
  return `${bytes.toString('latin1', 1, length + 1)}.${labels(bytes.subarray(length + 1))}`;
}

async function ask(lookup: Lookup, name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

test('all A and AAAA answers of the name server count, IPv4 first', async () => {
  const server = await nameServer((_, type) =>
    type === typeA ? [Buffer.of(192, 0, 2, 1), Buffer.of(10, 0, 0, 1)] : [Buffer.alloc(16, 0x20)],
  );
  const lookup = createLookup({ hostsFile, servers: [server] });
  assert.deepEqual(await ask(lookup, 'many.test'), [
    '192.0.2.1',
    '10.0.0.1',
    '2020:2020:2020:2020:2020:2020:2020:2020',
  ]);
});

test('the hosts file goes first, whatever the case, and is read again after a change', async () => {
  const server = await nameServer(() => 'no such name');
  const lookup = createLookup({ hostsFile, servers: [server] });
  assert.deepEqual(await ask(lookup, 'receiver.test'), ['10.0.0.5', '::1']);
  assert.deepEqual(await ask(lookup, 'ALIAS.test.'), ['10.0.0.5']);
  await assert.rejects(ask(lookup, 'comment.test'), { code: 'ENOTFOUND' });

  const changing = join(directory, 'changing');
  const follows = createLookup({ hostsFile: changing, servers: [server] });
  await assert.rejects(ask(follows, 'new.test'), { code: 'ENOTFOUND' });
  await writeFile(changing, '10.0.0.6 new.test\n');
  assert.deepEqual(await ask(follows, 'new.test'), ['10.0.0.6']);
  await writeFile(changing, '10.0.0.7 new.test\n');
  await utimes(changing, 1, 1); // the two writes may share a millisecond
  assert.deepEqual(await ask(follows, 'new.test'), ['10.0.0.7']);
});

test('a server that never answers for one family only costs time', async () => {
  const server = await nameServer((_, type) => (type === typeAaaa ? 'silence' : [Buffer.of(192, 0, 2, 7)]));
  const lookup = createLookup({ hostsFile, servers: [server], timeoutMs: 200 });
  assert.deepEqual(await ask(lookup, 'half.test'), ['192.0.2.7']);
});

test('forty silent names hold up neither each other nor a good one', async () => {
  const server = await nameServer((name, type) => {
    if (name.startsWith('silent')) return 'silence';
    return type === typeA ? [Buffer.of(192, 0, 2, 8)] : [];
  });
  const lookup = createLookup({ hostsFile, servers: [server], timeoutMs: 1_000 });
  const startedAt = performance.now();
  const silent = Array.from({ length: 40 }, (_, index) => ask(lookup, `silent${index}.test`));
  const settled = Promise.allSettled(silent);
  assert.deepEqual(await ask(lookup, 'good.test'), ['192.0.2.8']);
  assert.ok(performance.now() - startedAt < 800, 'the good name waited for the silent ones');
  assert.ok((await settled).every(({ status }) => status === 'rejected'));
  assert.ok(performance.now() - startedAt < 2_500, 'the silent names took longer than their limit');
});
