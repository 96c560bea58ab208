import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { atEnd, endProcess } from './clean-up.ts';
import type { Sample } from './sample.ts';

/**
 * One HTTP request of a load. `{n}` in a body becomes a number never used before. Of several bodies, each round over
 * the calls takes the next one: what is written is then always a change.
 */
export interface Call {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  body?: string | string[];
}

export interface Plan {
  origin: string;
  keys: string[];
  calls: Call[];
  connections: number;
  seconds: number;
}

export interface Loader {
  run(plan: Plan): Promise<Sample>;
}

/** The other process, which holds autocannon. Any answer that is no success fails the run. */
export function startLoader(): Loader {
  const child = fork(join(import.meta.dirname, 'loader.ts'), { detached: true });
  atEnd(() => endProcess(child));
  const died = once(child, 'exit').then(([code]) => [{ failed: `the loader ended with ${code}` }]);
  return {
    async run(plan) {
      child.send(plan);
      const [answer] = (await Promise.race([once(child, 'message'), died])) as [Sample | { failed: string }];
      if ('failed' in answer) throw new Error(answer.failed);
      return answer;
    },
  };
}
