import { randomBytes } from 'node:crypto';

export type UuidAt = (createdMs: number, n: number) => string;

/**
 * UUIDv7 of any moment. The bits after the time are 42 drawn once and the number of the row: unlike within a run, told
 * apart from every other run, and made again from the number alone, so that a million ids need not be kept.
 */
export function uuidsOfThisRun(): UuidAt {
  const drawn = randomBytes(6).toString('hex');
  const variant = (8 + (Number.parseInt(drawn[3]!, 16) & 3)).toString(16);
  const middle = `7${drawn.slice(0, 3)}-${variant}${drawn.slice(4, 7)}-${drawn.slice(7, 11)}`;
  return (createdMs, n) => {
    // In two halves: numbers beyond 31 bits are six times slower to print.
    const high = Math.floor(createdMs / 2 ** 16);
    const low = createdMs - high * 2 ** 16;
    return `${high.toString(16).padStart(8, '0')}-${low.toString(16).padStart(4, '0')}-${middle}${n.toString(16).padStart(8, '0')}`;
  };
}
