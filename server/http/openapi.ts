import { pino } from 'pino';
import { createApp } from '../app.ts';
import { readConfig } from '../config.ts';
import type { Context } from '../context.ts';
import { createEgress } from '../egress/guard.ts';
import { createMetrics } from '../metrics.ts';

/** The document as `GET /v1/openapi.json` serves it, made without a database and without a network. */
export async function openapiDocument(): Promise<object> {
  const app = await createApp(contextWithout());
  try {
    const answer = await app.inject('/v1/openapi.json');
    return answer.json<object>();
  } finally {
    await app.close();
  }
}

/** A context whose other parts are there but cannot be used: registering routes needs none of them. */
function contextWithout(): Context {
  const config = readConfig({});
  const known: Partial<Context> = {
    config,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    egress: createEgress(config),
  };
  return new Proxy(known as Context, {
    get: (context, name) => (name in context ? context[name as keyof Context] : unusable(String(name))),
  });
}

const unusable = (name: string) =>
  new Proxy(
    {},
    {
      get(_target, property) {
        throw new Error(`${name}.${String(property)} was used while the routes were registered`);
      },
    },
  );
