import type { FastifyBaseLogger } from 'fastify';
import type { Config } from './config.ts';
import type { Db } from './db/client.ts';
import type { Egress } from './egress/guard.ts';
import type { Metrics } from './metrics.ts';
import type { Vault } from './vault.ts';

/** Built once at start and passed by hand to whoever needs it. Tests build their own. */
export interface Context {
  config: Config;
  db: Db;
  vault: Vault;
  egress: Egress;
  metrics: Metrics;
  log: FastifyBaseLogger;
}
