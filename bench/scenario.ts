import type { Loader } from './load.ts';
import type { Seeded } from './seeded.ts';
import type { Receiver } from './webhooks/receiver.ts';

/** `ratio` is value ÷ limit; `against` says what the limit is. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  limit: number;
  ratio: number;
  against: string;
  spread?: [number, number];
  limit_spread?: [number, number];
  p50_ms?: number;
  p95_ms?: number;
  /** The cost at each table size, where that is what was measured. */
  sizes?: { rows: number; ms: number }[];
}

export type Measured = Omit<Figure, 'name'>;

export interface Scenario {
  name: string;
  measure(bench: Bench): Promise<Measured>;
}

export interface Timing {
  repetitions: number;
  warmUpSeconds: number;
  /** Of one repetition under load. */
  seconds: number;
  /** Of one repetition of requests one after the other. */
  costSeconds: number;
  /** Of load on a service that has just started, before anything is measured. */
  freshSeconds: number;
  /** Sent in one repetition of the delivery scenario. */
  deliveries: number;
}

/** What scenarios stand on. Databases are made when one first asks for them. */
export interface Bench {
  timing: Timing;
  /** Of the table sizes, smallest first; the last is where everything but growth is measured. */
  sizes: number[];
  loader: Loader;
  folder: string;
  /** Where webhooks are sent. */
  receiver: Receiver;
  at(size: number): Promise<Seeded>;
  largest(): Promise<Seeded>;
  /** Ends its service and starts it again on the same database, with more in its environment. */
  restart(seeded: Seeded, more?: Record<string, string>): Promise<void>;
}
