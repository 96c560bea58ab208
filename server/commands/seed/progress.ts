import type { WriteStream } from 'node:tty';

/** Tells on stderr how far it is: a bar that moves on a terminal, a line now and then in a log. */
export interface Progress {
  readonly rows: number;
  phase(name: string): void;
  add(rows: number): void;
  end(): void;
}

const barEveryMs = 200;
const lineEveryMs = 3_000;
const barWidth = 24;

export function createProgress(total: number, out: WriteStream): Progress {
  const started = performance.now();
  let rows = 0;
  let lastAdded = started;
  let phase = '';
  const show = out.isTTY
    ? () => out.write(`\r${bar().slice(0, out.columns - 1)}\u001b[K`)
    : () => out.write(`${line()}\n`);
  const timer = setInterval(show, out.isTTY ? barEveryMs : lineEveryMs);

  const perSecond = () => (rows * 1_000) / ((rows === total ? lastAdded : performance.now()) - started);
  const line = () => `${phase}: ${number(rows)} of ${number(total)} rows, ${number(perSecond() || 0)}/s`;
  const bar = () => {
    const share = total === 0 ? 1 : rows / total;
    const filled = Math.floor(share * barWidth);
    const left = rows === 0 || rows === total ? '' : `, ${Math.ceil((total - rows) / perSecond())} s left`;
    return `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${String(Math.floor(share * 100)).padStart(3)} %  ${line()}${left}`;
  };

  return {
    get rows() {
      return rows;
    },
    phase(name) {
      phase = name;
      if (out.isTTY) show();
    },
    add(more) {
      rows += more;
      lastAdded = performance.now();
    },
    end() {
      clearInterval(timer);
      if (out.isTTY) out.write('\r\u001b[K');
    },
  };
}

export const number = (n: number): string => Math.round(n).toLocaleString('en-US');
