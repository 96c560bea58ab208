import type { Figure } from './scenario.ts';
import { judged } from './targets.ts';

/** A scenario that could not be measured says why, and the run has failed. */
export type Outcome = Figure | { name: string; error: string };

export interface Result {
  date: string;
  machine: string;
  node: string;
  sizes: number[];
  scenarios: ReturnType<typeof reported>[];
}

export function resultOf(outcomes: Outcome[], about: Omit<Result, 'scenarios'>): Result {
  return { ...about, scenarios: outcomes.map(reported) };
}

function reported(outcome: Outcome) {
  if ('error' in outcome) {
    return { name: outcome.name, value: null, unit: '', limit: null, ratio: null, error: outcome.error };
  }
  const { name, value, unit, limit, ratio, against, sizes, ...more } = outcome;
  return {
    name,
    value: rounded(value),
    unit,
    limit: rounded(limit),
    ratio: rounded(ratio),
    against,
    ...Object.fromEntries(
      Object.entries(more).map(([key, number]) => [
        key,
        Array.isArray(number) ? number.map(rounded) : rounded(number),
      ]),
    ),
    ...(sizes && { sizes: sizes.map(({ rows, ms }) => ({ rows, ms: rounded(ms) })) }),
    ...judged(outcome),
  };
}

/** Three digits that count. */
const rounded = (value: number): number =>
  Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));

export function summaryOf(outcome: Outcome): string {
  if ('error' in outcome) return `FAILED: ${outcome.error}`;
  const { value, unit, limit, ratio, against } = outcome;
  const { target, met } = judged(outcome);
  const verdict = target === undefined ? '' : `  ${mark(met)} ${target}`;
  return `${rounded(value)} ${unit}, ${against} ${rounded(limit)}: ${rounded(ratio)}${verdict}`;
}

const mark = (met: boolean | undefined): string => (met ? '✓' : '✗');

export function tableOf({ machine, sizes, scenarios }: Result): string {
  const rows = scenarios.map((figure) => {
    if ('error' in figure) return [figure.name, 'FAILED', figure.error, '', '', '', '', ''];
    const { name, value, unit, limit, ratio, against } = figure;
    const { spread, target = '', met } = figure as { spread?: number[]; target?: string; met?: boolean };
    const verdict = target === '' ? '' : `${mark(met)} ${target}`;
    return [
      name,
      String(value),
      unit,
      spread?.join('–') ?? '',
      String(limit),
      against,
      String(ratio),
      verdict,
    ];
  });
  const head = ['scenario', 'value', 'unit', 'min–max', 'limit', 'the limit is', 'ratio', 'target'];
  return `${machine}, ${sizes.at(-1)!.toLocaleString('en-US')} conversations and contacts\n\n${aligned([head, ...rows])}\n`;
}

function aligned(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
