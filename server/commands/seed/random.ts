/**
 * Numbers that look random and depend on nothing but the seed, the kind of thing and its place: a row comes out the
 * same whatever order, batch or connection it is made in.
 */
export interface Random {
  /** From 0 up to 1. */
  unit(): number;
  /** From 0 up to, not including, `below`. */
  below(below: number): number;
  chance(share: number): boolean;
  pick<T>(list: readonly T[]): T;
}

export function randomOf(seed: number, kind: string, n: number): Random {
  let state = hash(seed, kind, n);
  const unit = () => {
    // mulberry32: four operations a number, and good enough for names and dates
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    unit,
    below: (below) => Math.floor(unit() * below),
    chance: (share) => unit() < share,
    pick: (list) => list[Math.floor(unit() * list.length)]!,
  };
}

/** One number where one is enough. */
export const unitOf = (seed: number, kind: string, n: number): number => hash(seed, kind, n) / 2 ** 32;

function hash(seed: number, kind: string, n: number): number {
  let mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b);
  for (let i = 0; i < kind.length; i++) mixed = Math.imul(mixed ^ kind.charCodeAt(i), 0x01000193);
  mixed = Math.imul(mixed ^ n, 0xcc9e2d51);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
