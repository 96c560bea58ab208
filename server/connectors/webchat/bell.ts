export interface Bell {
  ring(): void;
  /** Whether it rang since it was last heard, or rings within this time. */
  heard(withinMs: number): Promise<boolean>;
}

/** However often it rings while nobody listens, it is heard once. */
export function createBell(): Bell {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    async heard(withinMs) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, withinMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = undefined;
      }
      const answer = rung;
      rung = false;
      return answer;
    },
  };
}
