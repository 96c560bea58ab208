export interface Finding {
  status: 'ok' | 'warn' | 'fail';
  /** What was found; when it is not well, also what to do. */
  detail: string;
}

export interface Check extends Finding {
  name: string;
}

export const ok = (detail: string): Finding => ({ status: 'ok', detail });
export const warn = (detail: string): Finding => ({ status: 'warn', detail });
export const fail = (detail: string): Finding => ({ status: 'fail', detail });

export const reasonOf = (error: unknown): string =>
  (error as Error).message || String((error as { code?: unknown }).code ?? error);
