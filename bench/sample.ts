/** What one repetition gave. */
export interface Sample {
  perSecond: number;
  p50: number;
  p95: number;
}

export function sampleOf(latencies: number[], seconds: number): Sample {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { perSecond: latencies.length / seconds, p50: at(0.5), p95: at(0.95) };
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export const spreadOf = (values: number[]): [number, number] => [Math.min(...values), Math.max(...values)];
