import { InvalidArgumentError } from 'commander';
import { type Reader, statement } from '../db/client.ts';
import { isInTheFuture } from '../keys/queries.ts';
import { UsageError } from './usage.ts';

/** When a key ends: a moment, or so long from now. */
export type Expiry = { at: string } | { inSeconds: number };

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800, y: 31_536_000 };
const mostSeconds = 1_000 * 31_536_000;

/** A time without an offset would mean another moment on another machine; a date alone is midnight UTC. */
const timestamp = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;

export function expiryValue(text: string): Expiry {
  const [, amount, unit = ''] = /^(\d{1,12})([smhdwy])$/.exec(text) ?? [];
  if (amount !== undefined) {
    const inSeconds = Number(amount) * unitSeconds[unit]!;
    if (inSeconds > 0 && inSeconds <= mostSeconds) return { inSeconds };
  }
  const [, date] = timestamp.exec(text) ?? [];
  const ms = Date.parse(text);
  if (date !== undefined && !Number.isNaN(ms) && isDate(date)) return { at: new Date(ms).toISOString() };
  throw new InvalidArgumentError(
    'It must be a duration such as 30d or 12h, or a timestamp such as 2030-11-15T09:30:00Z.',
  );
}

/** Date.parse takes the 30th of February for the 2nd of March. */
const isDate = (date: string): boolean => new Date(`${date}T00:00Z`).toISOString().startsWith(date);

const fromNow = statement<{ at: string }>(
  'commands.from_now',
  `select clock_timestamp() + make_interval(secs => $1) as at`,
);

/** By the database's clock, which is the one that will end the key. */
export async function expiryAt(db: Reader, expiry: Expiry): Promise<string> {
  if ('inSeconds' in expiry) {
    const [row] = await db.query(fromNow, [expiry.inSeconds]);
    return row!.at;
  }
  if (!(await isInTheFuture(db, expiry.at)))
    throw new UsageError(`--expires ${expiry.at} has passed already`);
  return expiry.at;
}
