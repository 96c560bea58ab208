import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { request } from 'undici';
import { atEnd, endProcess } from '../clean-up.ts';
import { residentMemory } from '../service.ts';

export interface BareServer {
  origin: string;
  startMs: number;
  memory(): number;
  stop(): Promise<void>;
}

/** A node:http server, in a process of its own, that answers everything with the same bytes. */
export async function startBareServer(answer: { headers: string[]; body: string }): Promise<BareServer> {
  const began = performance.now();
  const child = fork(join(import.meta.dirname, 'bare-server.ts'), { detached: true });
  const stop = () => endProcess(child);
  atEnd(stop);
  child.send(answer);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    origin: `http://127.0.0.1:${port}`,
    startMs: performance.now() - began,
    memory: () => residentMemory(child.pid!),
    stop,
  };
}

/** What node:http adds to an answer by itself. */
const ownHeaders = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

/** The bytes and headers with which the service answers. */
export async function answerOf(url: string, key: string): Promise<{ headers: string[]; body: string }> {
  const answer = await request(url, { headers: { authorization: `Bearer ${key}` } });
  const headers = Object.entries(answer.headers)
    .filter(([name]) => !ownHeaders.has(name))
    .flatMap(([name, value]) => [name, String(value)]);
  return { headers, body: await answer.body.text() };
}
