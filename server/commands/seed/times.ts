export const dayMs = 86_400_000;
export const yearMs = 365 * dayMs;

const days = new Map<number, string>();

/** toISOString, of which three million take nine seconds; this way it is one. */
export function isoOf(ms: number): string {
  const day = Math.floor(ms / dayMs);
  let date = days.get(day);
  if (date === undefined) {
    date = new Date(day * dayMs).toISOString().slice(0, 11);
    days.set(day, date);
  }
  const rest = ms - day * dayMs;
  const seconds = Math.floor(rest / 1_000);
  const minutes = Math.floor(seconds / 60);
  return `${date}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}.${three(rest % 1_000)}Z`;
}

const two = (n: number): string => (n < 10 ? `0${n}` : `${n}`);
const three = (n: number): string => (n < 10 ? `00${n}` : n < 100 ? `0${n}` : `${n}`);
