/**
 * Who may send how much at once. A lane is one receiver. Slots are shared by all lanes of a process, and the rules keep
 * one bad receiver, or a hundred, from taking them from the others:
 * no lane holds more than a quarter; a lane that times out is halved and grows again by one with each success; lanes
 * that have not just succeeded (new ones, failing ones: so all retries) hold half of the slots together.
 */
export type Outcome = 'success' | 'failure' | 'timeout';

interface Lane {
  cap: number;
  inFlight: number;
  /** The last thing heard from it was a success. */
  proven: boolean;
  usedAt: number;
}

export interface Lanes {
  /** How many more this lane may take now. */
  room(lane: string): number;
  take(lane: string, count: number): void;
  /** Returns slots that were taken and not used. */
  giveBack(lane: string, count: number): void;
  release(lane: string, outcome: Outcome): void;
  inFlight(): number;
  /** Lanes below their starting cap, for the metrics. */
  throttled(): Map<string, number>;
}

const firstCap = 4;
/** What was learnt of a receiver that has had nothing for so long, or was deleted, is forgotten. */
const rememberedMs = 600_000;

export function createLanes(slots: number, now = () => performance.now()): Lanes {
  const lanes = new Map<string, Lane>();
  const mostOfOne = Math.max(1, Math.floor(slots / 4));
  const mostUnproven = Math.max(1, Math.floor(slots / 2));
  let total = 0;
  let unproven = 0;

  const laneOf = (name: string): Lane => {
    let lane = lanes.get(name);
    if (!lane) {
      forgetUnused();
      lanes.set(name, (lane = { cap: Math.min(firstCap, mostOfOne), inFlight: 0, proven: false, usedAt: 0 }));
    }
    lane.usedAt = now();
    return lane;
  };

  const forgetUnused = () => {
    for (const [name, { inFlight, usedAt }] of lanes) {
      if (inFlight === 0 && now() - usedAt > rememberedMs) lanes.delete(name);
    }
  };

  const hold = (name: string, count: number) => {
    const lane = laneOf(name);
    lane.inFlight += count;
    total += count;
    if (!lane.proven) unproven += count;
  };

  return {
    room(name) {
      const lane = laneOf(name);
      const ofClass = lane.proven ? slots : mostUnproven - unproven;
      return Math.max(0, Math.min(lane.cap - lane.inFlight, slots - total, ofClass));
    },
    take: hold,
    giveBack: (name, count) => hold(name, -count),
    release(name, outcome) {
      const lane = laneOf(name);
      if (!lane.proven) unproven -= lane.inFlight;
      lane.inFlight -= 1;
      total -= 1;
      lane.proven = outcome === 'success';
      if (!lane.proven) unproven += lane.inFlight;
      if (outcome === 'success') lane.cap = Math.min(mostOfOne, lane.cap + 1);
      if (outcome === 'timeout') lane.cap = Math.max(1, Math.floor(lane.cap / 2));
    },
    inFlight: () => total,
    throttled() {
      forgetUnused();
      return new Map(
        [...lanes].filter(([, { cap }]) => cap < firstCap).map(([name, { cap }]) => [name, cap]),
      );
    },
  };
}
