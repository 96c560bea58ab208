/** What runs, how long it has been running and what is left, on stderr. */
export interface Progress {
  note(line: string): void;
  begin(name: string): void;
  end(outcome: string): void;
}

export function createProgress(total: number): Progress {
  const started = performance.now();
  let begunAt = started;
  let done = 0;
  const say = (line: string) => process.stderr.write(`${clock(performance.now() - started)}  ${line}\n`);
  return {
    note: say,
    begin(name) {
      begunAt = performance.now();
      say(`[${done + 1} of ${total}] ${name} …`);
    },
    end(outcome) {
      done += 1;
      say(`    ${outcome}  (${((performance.now() - begunAt) / 1_000).toFixed(1)} s, ${total - done} left)`);
    },
  };
}

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return `${String(Math.floor(seconds / 60)).padStart(3)}:${String(seconds % 60).padStart(2, '0')}`;
}
