import assert from 'node:assert/strict';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openapiDocument } from '../server/http/openapi.ts';
import { type ApiDocument, operationsOf, resolve, type Schema } from '../server/http/openapi/types.ts';

/** The document that this code describes itself with. */
export const document = (await openapiDocument()) as ApiDocument;

const operations = new Map(
  [
    ...operationsOf(document).map(({ operation }) => operation),
    ...Object.values(document.webhooks).map(({ post }) => post),
  ].map((operation) => [operation.operationId, operation]),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv, ['date-time', 'date', 'email']);
ajv.addSchema({ $id: 'document', components: closed(document.components) });
const compiled = new Map<string, ValidateFunction>();

/** The answer of an operation is as the document says: nothing missing, nothing of another type, nothing unmentioned. */
export function assertMatchesSchema(operationId: string, status: number, body: unknown): void {
  const operation = operations.get(operationId);
  assert.ok(operation, `the document has an operation ${operationId}`);
  const response = operation.responses[status];
  assert.ok(response, `the document says that ${operationId} can answer ${status}`);
  const schema = resolve(document, response).content?.['application/json']?.schema;
  assert.ok(schema, `the document has a schema for ${operationId} ${status}`);
  assertValid(`${operationId} ${status}`, schema, body);
}

/** The same for what a client or this service sends. */
export function assertMatchesRequest(operationId: string, body: unknown): void {
  const schema = operations.get(operationId)?.requestBody?.content['application/json']?.schema;
  assert.ok(schema, `the document has a request body for ${operationId}`);
  assertValid(`${operationId} request`, schema, body);
}

function assertValid(name: string, schema: Schema, body: unknown): void {
  const validate = compiled.get(name) ?? ajv.compile(closed(schema));
  compiled.set(name, validate);
  if (!validate(body)) {
    assert.fail(
      `${name} is not as documented: ${validate.errors?.map(sentence).join('; ')}\n${JSON.stringify(body)}`,
    );
  }
}

const sentence = ({ instancePath, message, params }: ErrorObject): string =>
  `${instancePath || 'body'} ${message} ${JSON.stringify(params)}`;

/** Objects whose fields are listed have no others. Clients must not rely on that, but the document should be whole. */
function closed<T>(node: T): T {
  if (Array.isArray(node)) return node.map((item: unknown) => closed(item)) as T;
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, ...rest } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, closed(value)]),
  ) as Schema;
  if (typeof $ref === 'string') return { $ref: `document${$ref}` } as T;
  const isOpen = rest.type === 'object' && rest.properties && rest.additionalProperties === undefined;
  return (isOpen ? { ...rest, additionalProperties: false } : rest) as T;
}
