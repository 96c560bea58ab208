import type { Context } from '../context.ts';
import { statement } from '../db/client.ts';
import { listMigrations } from '../db/migrate.ts';
import type { App } from './route.ts';

const appliedVersion = statement<{ version: number | null }>(
  'operations.applied_version',
  `select max(version) as version from schema_migrations`,
);

/** A load balancer waits about this long, and wants an answer rather than a reason. */
const readyWithinMs = 2_000;

/** For load balancers and monitoring: outside `/v1`, without a key. */
export async function operationRoutes(app: App, { db, metrics }: Context): Promise<void> {
  const newest = (await listMigrations()).at(-1)?.version ?? 0;
  const config = { public: true } as const;

  app.get('/healthz', { config }, async () => ({ status: 'ok' }));

  app.get('/readyz', { config }, async (_request, reply) => {
    try {
      const [row] = await Promise.race([db.query(appliedVersion, []), timeout(readyWithinMs)]);
      if ((row?.version ?? 0) >= newest) return { status: 'ready' };
      return reply.code(503).send({ status: 'not ready', reason: 'the database is not migrated' });
    } catch {
      return reply.code(503).send({ status: 'not ready', reason: 'the database does not answer' });
    }
  });

  app.get('/metrics', { config }, async (_request, reply) => {
    reply.type(metrics.registry.contentType);
    return metrics.text();
  });
}

function timeout(ms: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error('too late')), ms).unref();
  });
}
