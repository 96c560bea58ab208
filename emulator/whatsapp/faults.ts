import { GraphError, type GraphErrorOptions } from './errors.ts';

/** A part of the Graph API that can be told to misbehave. */
export type Endpoint = 'messages' | 'media' | 'templates' | 'phone_number';

export interface Scope {
  /** How many requests; one unless told. */
  times?: number;
  /** `messages` unless told. */
  on?: Endpoint;
}

export interface Failure
  extends Scope,
    Pick<GraphErrorOptions, 'httpStatus' | 'message' | 'details' | 'headers'> {
  code: number;
}

export type Fault =
  | { kind: 'fail'; failure: Failure }
  | { kind: 'delay'; ms: number }
  | { kind: 'hang'; accept: boolean }
  | { kind: 'drop' };

export interface Faults {
  failNext(failure: Failure): void;
  /** The request is processed at once and answered late: its statuses may come before its answer. */
  delayNext(ms: number, scope?: Scope): void;
  /** Never answered; the message is not accepted unless told. */
  hangNext(scope?: Scope & { accept?: boolean }): void;
  /** Accepted, then the connection is cut before the answer. */
  dropAnswerNext(scope?: Scope): void;
  /** Sends above this fail with 130429; null for no limit. */
  rateLimit(perSecond: number | null): void;
  clear(): void;
  pending(): { on: Endpoint; times: number; fault: Fault }[];
  /** The fault this request has to suffer. */
  take(endpoint: Endpoint): Fault | undefined;
}

export function createFaults(): Faults {
  let queue: { on: Endpoint; times: number; fault: Fault }[] = [];
  let limit: number | null = null;
  let recent: number[] = [];

  function add(fault: Fault, { times = 1, on = 'messages' }: Scope = {}): void {
    queue.push({ on, times, fault });
  }

  function refuseAboveLimit(): void {
    const now = performance.now();
    recent = recent.filter((at) => now - at < 1000);
    if (limit !== null && recent.length >= limit) throw new GraphError(130429);
    recent.push(now);
  }

  return {
    failNext: (failure) => add({ kind: 'fail', failure }, failure),
    delayNext: (ms, scope) => add({ kind: 'delay', ms }, scope),
    hangNext: (scope) => add({ kind: 'hang', accept: scope?.accept ?? false }, scope),
    dropAnswerNext: (scope) => add({ kind: 'drop' }, scope),
    rateLimit: (perSecond) => void (limit = perSecond),
    clear() {
      queue = [];
      limit = null;
    },
    pending: () => queue,
    take(endpoint) {
      if (endpoint === 'messages') refuseAboveLimit();
      const next = queue.find(({ on }) => on === endpoint);
      if (!next) return undefined;
      next.times -= 1;
      queue = queue.filter(({ times }) => times > 0);
      return next.fault;
    },
  };
}
