import { type Statement, statement } from '../db/client.ts';

/**
 * A statement that claims up to so many rows. The number stands in its text: with `limit $n` PostgreSQL plans for a
 * tenth of the lane. From eight on only multiples of eight are asked for, as each number is a plan of its own in every
 * session; what is left over is claimed when the first of these is done.
 */
export function claims<Row>(
  name: string,
  textOf: (count: number) => string,
): (most: number) => Statement<Row> {
  const byCount = new Map([[1, statement<Row>(`${name}.1`, textOf(1))]]);
  return (most) => {
    const count = most < 8 ? most : most - (most % 8);
    const known = byCount.get(count) ?? { name: `${name}.${count}`, text: textOf(count) };
    byCount.set(count, known);
    return known;
  };
}
