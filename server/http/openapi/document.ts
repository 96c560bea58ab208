import swagger from '@fastify/swagger';
import type { RouteOptions } from 'fastify';
import { eventTypes } from '../../events/names.ts';
import type { App } from '../route.ts';
import type { Scope } from '../scopes.ts';
import { ErrorSchema, errorResponses, headers, parameters, securitySchemes } from './components.ts';
import { eventOperation, eventSchemas } from './events.ts';
import { addExamples } from './examples.ts';
import { info } from './info.ts';
import { completeOperation } from './operation.ts';
import { publicSchema } from './schema.ts';
import { tags } from './tags.ts';
import { type ApiDocument, type Operation, operationsOf, type PathItem } from './types.ts';

const server = { url: '/v1', description: 'This service' };

/** Watches the routes as they are registered. Once the app is ready, the returned function gives the document. */
export async function describeRoutes(app: App): Promise<() => ApiDocument> {
  const scopeOf = new Map<string, Scope | undefined>();
  app.addHook('onRoute', (route) => {
    checkRoute(route);
    const operationId = route.schema?.operationId;
    if (operationId !== undefined) scopeOf.set(operationId, route.config?.scope);
  });
  for (const schema of [ErrorSchema, ...eventSchemas]) app.addSchema(schema);
  await app.register(swagger, {
    openapi: { openapi: '3.1.1', info, servers: [server] },
    convertConstToEnum: false,
    refResolver: { buildLocalReference: (json) => json.$id as string },
    transform: ({ schema, url }) => ({ schema: publicSchema(schema), url }),
  });
  return () => finish(app.swagger() as unknown as ApiDocument, scopeOf);
}

/** A route that nobody could find in the document, or that no key guards by mistake, does not start. */
function checkRoute({ method, url, schema, config }: RouteOptions): void {
  if (method === 'OPTIONS') return;
  const lacking = (['operationId', 'summary', 'tags'] as const).filter((name) => !schema?.[name]?.length);
  const lacks: string[] = schema?.hide ? [] : lacking.map((name) => `schema.${name}`);
  if (!config?.scope === !config?.public) lacks.push('either config.scope or config.public');
  if (lacks.length > 0) throw new Error(`${String(method)} ${url} lacks ${lacks.join(', ')}`);
}

const place = ({ tags: [first = ''] }: Operation): number => tags.findIndex(({ name }) => name === first);

function finish(made: ApiDocument, scopeOf: Map<string, Scope | undefined>): ApiDocument {
  const paths: Record<string, PathItem> = {};
  const byTag = operationsOf(made).toSorted((a, b) => place(a.operation) - place(b.operation));
  for (const { path, method, operation } of byTag) {
    const scope = scopeOf.get(operation.operationId);
    (paths[path] ??= {})[method] = completeOperation(operation, { path, method, scope });
  }
  const schemas = Object.entries(made.components.schemas).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return addExamples({
    openapi: made.openapi,
    info,
    servers: made.servers,
    tags,
    paths,
    webhooks: Object.fromEntries(eventTypes.map((type) => [type, { post: eventOperation(type) }])),
    components: {
      securitySchemes,
      schemas: Object.fromEntries(schemas.map(([name, schema]) => [name, publicSchema(schema)])),
      responses: errorResponses(),
      headers,
      parameters,
    },
  });
}
