import { availableParallelism, cpus, totalmem } from 'node:os';

export const machine = (): string =>
  `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
