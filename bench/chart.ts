import type { Result } from './report.ts';

type Reported = Result['scenarios'][number];

interface Bar {
  name: string;
  value: number;
  limit: number;
  ratio: number;
}

interface Line {
  name: string;
  sizes: { rows: number; ms: number }[];
}

const width = 960;
const left = 300;
const right = 150;
const rowHeight = 22;
const plotHeight = 420;
const colours = ['#2b6cb0', '#c05621', '#2f855a', '#6b46c1', '#b83280', '#b7791f', '#2c7a7b', '#4a5568'];

/** Throughput with the limit as a mark, and below it what one request costs against table size. Needs nothing else. */
export function chartOf({ machine, date, scenarios }: Result): string {
  const bars = scenarios.filter(isThroughput).map((s) => s as unknown as Bar);
  const lines = scenarios.flatMap((s): Line[] =>
    'sizes' in s && s.sizes ? [{ name: s.name, sizes: s.sizes }] : [],
  );
  const barsHeight = bars.length * rowHeight + 70;
  const parts = [
    text(24, 34, 'Inbox benchmark', 'font-size="18" font-weight="600"'),
    text(24, 54, `${machine} · ${date}`, 'fill="#64748b"'),
  ];
  let y = 84;
  if (bars.length > 0) {
    parts.push(group(y, throughput(bars)));
    y += barsHeight;
  }
  if (lines.length > 0) {
    parts.push(group(y, growth(lines)));
    y += plotHeight + 70;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 10}" width="${width}" height="${y + 10}" font-family="system-ui, sans-serif" font-size="12" fill="#1e293b">
<rect width="100%" height="100%" fill="#ffffff"/>
${parts.join('\n')}
</svg>
`;
}

const isThroughput = (figure: Reported): boolean => figure.unit.endsWith('/s') && figure.value !== null;

function throughput(bars: Bar[]): string[] {
  const values = bars.flatMap(({ value, limit }) => [value, limit]);
  const [least, most] = [10 ** Math.floor(Math.log10(Math.min(...values) / 2)), Math.max(...values)];
  const x = scale(Math.log10(least), Math.log10(most), left, width - right);
  const at = (value: number) => x(Math.log10(value));
  return [
    text(
      24,
      0,
      'Throughput a second: bar, ours; line, its limit (log scale); number, ours ÷ limit',
      'font-weight="600"',
    ),
    ...decades(least, most).flatMap((tick) => [
      line(at(tick), 14, at(tick), 20 + bars.length * rowHeight, '#e2e8f0'),
      text(at(tick), 34 + bars.length * rowHeight, short(tick), 'fill="#64748b" text-anchor="middle"'),
    ]),
    ...bars.flatMap(({ name, value, limit, ratio }, i) => {
      const top = 20 + i * rowHeight;
      return [
        text(left - 10, top + 13, name, 'text-anchor="end"'),
        `<rect x="${left}" y="${top + 3}" width="${round(at(value) - left)}" height="${rowHeight - 8}" fill="#60a5fa"/>`,
        line(at(limit), top, at(limit), top + rowHeight - 2, '#dc2626', 2),
        text(width - right + 20, top + 13, `${short(value)} · ${ratio}`),
      ];
    }),
  ];
}

function growth(lines: Line[]): string[] {
  const all = lines.flatMap(({ sizes }) => sizes);
  const rows = [...new Set(all.map((size) => size.rows))].toSorted((a, b) => a - b);
  const costs = all.map(({ ms }) => ms);
  const [lowest, highest] = [Math.min(...costs) / 1.3, Math.max(...costs) * 1.3];
  const plotRight = width - 300;
  const x = scale(Math.log10(rows[0]!), Math.log10(rows.at(-1)!), 80, plotRight);
  const y = scale(Math.log10(lowest), Math.log10(highest), plotHeight, 20);
  const [atRows, atMs] = [(n: number) => x(Math.log10(n)), (ms: number) => y(Math.log10(ms))];
  const labels = spaced(lines.map(({ sizes }) => atMs(sizes.at(-1)!.ms)));
  return [
    text(
      24,
      0,
      'Cost of one request against table size (median ms, both axes log): level is good',
      'font-weight="600"',
    ),
    ...decades(lowest, highest).flatMap((tick) => [
      line(80, atMs(tick), plotRight, atMs(tick), '#e2e8f0'),
      text(72, atMs(tick) + 4, `${tick} ms`, 'fill="#64748b" text-anchor="end"'),
    ]),
    ...rows.flatMap((n) => [
      line(atRows(n), 20, atRows(n), plotHeight, '#e2e8f0'),
      text(atRows(n), plotHeight + 18, `${short(n)} rows`, 'fill="#64748b" text-anchor="middle"'),
    ]),
    ...lines.flatMap(({ name, sizes }, i) => {
      const colour = colours[i % colours.length]!;
      const points = sizes.map(({ rows, ms }) => `${round(atRows(rows))},${round(atMs(ms))}`);
      const labelY = labels[i]!;
      return [
        `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
        ...sizes.map(
          ({ rows, ms }) =>
            `<circle cx="${round(atRows(rows))}" cy="${round(atMs(ms))}" r="3" fill="${colour}"/>`,
        ),
        line(plotRight + 4, atMs(sizes.at(-1)!.ms), plotRight + 22, labelY, '#cbd5e1'),
        text(plotRight + 26, labelY + 4, name.replace('growth_', ''), `fill="${colour}"`),
      ];
    }),
  ];
}

/** Labels that would lie on one another are moved apart, in their order from top to bottom. */
function spaced(wanted: number[], apart = 15): number[] {
  const order = wanted.map((_, i) => i).toSorted((a, b) => wanted[a]! - wanted[b]!);
  const placed: number[] = [];
  let lowest = plotHeight + 10;
  for (const i of order.toReversed()) {
    placed[i] = Math.min(wanted[i]!, lowest);
    lowest = placed[i] - apart;
  }
  return placed;
}

const scale = (from: number, to: number, start: number, end: number) => (value: number) =>
  start + ((value - from) / (to - from || 1)) * (end - start);

function decades(from: number, to: number): number[] {
  const ticks: number[] = [];
  for (let power = Math.ceil(Math.log10(from)); 10 ** power <= to; power++)
    ticks.push(Number((10 ** power).toPrecision(1)));
  return ticks;
}

const round = (value: number): number => Math.round(value * 10) / 10;
const short = (n: number): string =>
  Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 }).format(n);
const group = (y: number, parts: string[]): string =>
  `<g transform="translate(0 ${y})">\n${parts.join('\n')}\n</g>`;
const line = (x1: number, y1: number, x2: number, y2: number, stroke: string, strokeWidth = 1): string =>
  `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="${stroke}" stroke-width="${strokeWidth}"/>`;
const text = (x: number, y: number, content: string, attributes = ''): string =>
  `<text x="${round(x)}" y="${round(y)}" ${attributes}>${content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
