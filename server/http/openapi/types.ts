/** The parts of an OpenAPI 3.1 document that this service uses. */

export interface ApiDocument {
  openapi: string;
  info: { title: string; version: string; summary: string; description: string; license: object };
  servers: { url: string; description: string }[];
  tags: Tag[];
  paths: Record<string, PathItem>;
  webhooks: Record<string, { post: Operation }>;
  components: {
    securitySchemes: Record<string, object>;
    schemas: Record<string, Schema>;
    responses: Record<string, Response>;
    headers: Record<string, Header>;
    parameters: Record<string, Parameter>;
  };
}

export interface Tag {
  name: string;
  description: string;
}

export const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof methods)[number];
export type PathItem = Partial<Record<Method, Operation>>;

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security?: Record<string, string[]>[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { required: boolean; description?: string; content: Content };
  responses: Record<string, Response | Reference>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

export interface Response {
  description: string;
  headers?: Record<string, Header | Reference>;
  content?: Content;
}

export interface Header {
  description: string;
  schema: Schema;
}

export type Content = Record<string, Media>;

export interface Media {
  schema: Schema;
  examples?: Record<string, { summary?: string; value: unknown }>;
}

export interface Reference {
  $ref: string;
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  anyOf?: Schema[];
  additionalProperties?: boolean | Schema;
  [keyword: string]: unknown;
}

/** What `$ref` stands for, within one document. */
export function resolve<T extends object>(document: ApiDocument, value: T | Reference): T {
  const seen = (value as Reference).$ref;
  if (typeof seen !== 'string') return value as T;
  let found: unknown = document;
  for (const name of seen.replace(/^#\//, '').split('/')) found = (found as Record<string, unknown>)[name];
  if (typeof found !== 'object' || found === null) throw new Error(`${seen} names nothing in the document`);
  return resolve(document, found as T | Reference);
}

/** Every operation under a path, in the order of the document. */
export function operationsOf(document: ApiDocument) {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      return operation ? [{ path, method, operation }] : [];
    }),
  );
}
