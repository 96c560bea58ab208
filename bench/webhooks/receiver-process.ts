import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import type { Question } from './receiver.ts';

/** Notes what comes, by path, and when. `/dead` is never answered. */
const tls = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as { cert: string; key: string };
let seen = new Map<string, { at: number; sentAt: number }[]>();
const server = createServer(tls, (incoming, response) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => {
    const { timestamp } = JSON.parse(Buffer.concat(chunks).toString()) as { timestamp: string };
    const list = seen.get(incoming.url!) ?? [];
    list.push({ at: performance.now(), sentAt: Date.parse(timestamp) - performance.timeOrigin });
    seen.set(incoming.url!, list);
    if (incoming.url !== '/dead') response.end('ok');
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.on('message', (question: Question) => process.send!({ answer: answerTo(question) }));
process.on('disconnect', () => process.exit());
process.send!({ port: (server.address() as AddressInfo).port });

function answerTo(question: Question): number | null {
  if (question.ask === 'reset') {
    seen = new Map();
    return null;
  }
  const list = seen.get(question.path) ?? [];
  if (question.ask === 'rate') {
    const { count } = question;
    const first = Math.floor(count / 4);
    return list.length < count ? null : (1_000 * (count - first)) / (list[count - 1]!.at - list[first]!.at);
  }
  const all = list.map(({ at, sentAt }) => at - sentAt).toSorted((a, b) => a - b);
  return all[Math.floor(all.length * 0.95)] ?? null;
}
