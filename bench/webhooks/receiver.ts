import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAuthority } from '../../test/certificates.ts';
import { atEnd, endProcess } from '../clean-up.ts';

export type Question =
  | { ask: 'reset' }
  | { ask: 'rate'; path: string; count: number }
  | { ask: 'latency'; path: string };

export interface Receiver {
  url: string;
  /** What a service needs to trust and to reach it. */
  env: { NODE_EXTRA_CA_CERTS: string; INBOX_EGRESS_ALLOW: string };
  reset(): Promise<void>;
  /** Deliveries a second, sustained: the first quarter of `count` is warm-up. */
  rate(path: string, count: number): Promise<number>;
  /** 95th percentile from the event's own time to its receipt, in ms. */
  latency(path: string): Promise<number>;
}

const patienceMs = 300_000;

/** A TLS receiver in a process of its own. */
export async function startReceiver(folder: string): Promise<Receiver> {
  const authority = createAuthority();
  const [ca, server] = [join(folder, 'ca.pem'), join(folder, 'server.json')];
  writeFileSync(ca, authority.cert);
  writeFileSync(server, JSON.stringify(authority.issue({ hosts: ['127.0.0.1'] })));
  const child = fork(join(import.meta.dirname, 'receiver-process.ts'), [server], { detached: true });
  atEnd(() => endProcess(child));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const ask = async (question: Question): Promise<number | null> => {
    child.send(question);
    const [{ answer }] = (await once(child, 'message')) as [{ answer: number | null }];
    return answer;
  };
  return {
    url: `https://127.0.0.1:${port}/`,
    env: { NODE_EXTRA_CA_CERTS: ca, INBOX_EGRESS_ALLOW: '127.0.0.0/8' },
    reset: async () => void (await ask({ ask: 'reset' })),
    async rate(path, count) {
      const end = performance.now() + patienceMs;
      while (performance.now() < end) {
        const rate = await ask({ ask: 'rate', path, count });
        if (rate !== null) return rate;
        await sleep(200);
      }
      throw new Error(`${count} deliveries did not arrive within ${patienceMs / 1_000} s`);
    },
    latency: async (path) => (await ask({ ask: 'latency', path })) ?? Number.NaN,
  };
}
