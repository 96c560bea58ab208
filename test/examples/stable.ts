import { createHash } from 'node:crypto';
import { type Kind, prefixes, toId } from '../../server/ids.ts';

const firstMoment = Date.parse('2026-11-15T09:30:00.000Z');
const stepMs = 61_837;

/** The moment that stands for everything that happened in this step. */
const momentOf = (step: number): Date => new Date(firstMoment + step * stepMs);

const kindOf = new Map(Object.entries(prefixes).map(([kind, prefix]) => [prefix as string, kind as Kind]));
const ids = new RegExp(`\\b(${[...kindOf.keys()].join('|')})_(?!0{26})[0-7][0-9a-hjkmnp-tv-z]{25}\\b`, 'g');
const timestamps = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g;
const secrets = /\b(whsec_|inbox_)[\w+/-]{43}=?/g;
const requestIds = /\breq_[\da-f-]{36}\b/g;
const seconds = /\bretry in \d+ s\b/g;

/** What the clock alone decides. `last_used_at` is written in the background, in whichever step that gets done. */
const byName: Record<string, unknown> = {
  last_used_at: momentOf(0).toISOString(),
  duration_ms: 84,
  'Retry-After': '42',
};

/**
 * Replaces what differs from run to run by what could have been: ids, secrets and request ids by fixed ones, and the
 * moments of the run by the moment of their step. Equal things stay equal and order stays order.
 */
export function createStabiliser() {
  const started = Date.now() - 60_000;
  const stepStarts: number[] = [];
  const known = new Map<string, string>();
  const counts = new Map<string, number>();

  function once(found: string, group: string, make: (n: number) => string): string {
    const made = known.get(found);
    if (made !== undefined) return made;
    const n = (counts.get(group) ?? 0) + 1;
    counts.set(group, n);
    const fixed = make(n);
    known.set(found, fixed);
    return fixed;
  }

  function stableText(text: string): string {
    return text
      .replaceAll(ids, (id, prefix: string) => {
        const step = stepStarts.length;
        return once(id, prefix, (n) => toId(kindOf.get(prefix)!, uuidOf(momentOf(step), `${prefix} ${n}`)));
      })
      .replaceAll(secrets, (secret, prefix: string) =>
        once(secret, prefix, (n) => {
          const encoding = secret.endsWith('=') ? 'base64' : 'base64url';
          return prefix + createHash('sha256').update(`${prefix} ${n}`).digest(encoding);
        }),
      )
      .replaceAll(requestIds, `req_${uuidOf(momentOf(stepStarts.length), 'request')}`)
      .replaceAll(seconds, 'retry in 42 s')
      .replaceAll(timestamps, stableMoment);
  }

  /** A moment that a request itself named is not of this run and stays. */
  function stableMoment(text: string): string {
    const time = Date.parse(text);
    if (time < started || time > Date.now() + 60_000) return text;
    return momentOf(stepStarts.findLastIndex((start) => start <= time) + 1).toISOString();
  }

  function stable(value: unknown, name = ''): unknown {
    if (value !== null && name in byName) return byName[name];
    if (typeof value === 'string') return stableText(value);
    if (Array.isArray(value)) return value.map((item) => stable(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, stable(inner, key)]));
  }

  return {
    beginStep: (now: number) => void stepStarts.push(now),
    stable: <T>(value: T): T => stable(value) as T,
  };
}

/** A UUIDv7 of that moment whose random part comes from a name. */
function uuidOf(moment: Date, name: string): string {
  const time = moment.getTime().toString(16).padStart(12, '0');
  const random = createHash('sha256').update(name).digest('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(6, 18)}`;
}
