import { statusOf, type ErrorCode } from '../../errors.ts';
import type { Header, Parameter, Reference, Response, Schema } from './types.ts';

/** What every operation shares: the error body, its responses, and the headers of answers. */

export const bearer = 'apiKey';

export const securitySchemes = {
  [bearer]: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API key of the workspace: `Authorization: Bearer <API_KEY>`. The scope that an operation needs is listed with it.',
  },
};

export const ErrorSchema: Schema = {
  $id: 'Error',
  type: 'object',
  description: 'The body of every answer that is not a success.',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'status', 'request_id'],
      properties: {
        code: { type: 'string', enum: Object.keys(statusOf), description: 'For programs.' },
        message: { type: 'string', description: 'For people: what to mend.' },
        status: { type: 'integer', enum: Object.values(statusOf), description: 'The HTTP status.' },
        details: {
          type: 'array',
          description: 'Each field that broke a rule, where the error is about fields.',
          items: {
            type: 'object',
            required: ['field', 'rule', 'message'],
            properties: {
              field: { type: 'string', description: 'Path of the field, such as `from.phone`.' },
              rule: { type: 'string', description: 'The rule it broke, such as `required`.' },
              message: { type: 'string' },
            },
          },
        },
        request_id: { type: 'string', description: 'As in `X-Request-Id`. Name it when you ask for help.' },
      },
    },
  },
};

/** When each code is answered. */
export const meaningOf: Record<ErrorCode, string> = {
  bad_request:
    'The request does not have the documented shape: unreadable JSON, a missing field, a wrong type, a value outside a list or range.',
  unauthorized: 'The API key is missing or not valid.',
  forbidden:
    'The API key lacks the scope of this operation; where no key is needed, the signature, token or origin is not right.',
  not_found: 'There is no such record in this workspace. The message names what was looked for.',
  validation_error:
    'The shape is right, but the content breaks a rule: a malformed phone number, an id that names nothing, a closed reply window.',
  rate_limited: 'Too many requests this minute. `Retry-After` says how many seconds to wait.',
  server_error: 'The fault is on this side. Retry later.',
};

const responseNames: Record<ErrorCode, string> = {
  bad_request: 'BadRequest',
  unauthorized: 'Unauthorized',
  forbidden: 'Forbidden',
  not_found: 'NotFound',
  validation_error: 'ValidationError',
  rate_limited: 'RateLimited',
  server_error: 'ServerError',
};

export const responseName = (code: ErrorCode): string => responseNames[code];

export const errorResponse = (code: ErrorCode): Reference => ({
  $ref: `#/components/responses/${responseNames[code]}`,
});

export const headers: Record<string, Header> = {
  'X-Request-Id': {
    description: 'Names this request in the logs. A sane id that the request sent comes back.',
    schema: { type: 'string' },
  },
  'X-RateLimit-Limit': { description: 'Requests a minute for this API key.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left in this window.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'When the window ends, in epoch seconds.',
    schema: { type: 'integer' },
  },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
  Link: {
    description:
      'The first, previous, next and last page, with `rel="first"`, `"prev"`, `"next"` and `"last"`.',
    schema: { type: 'string' },
  },
  'Idempotent-Replayed': {
    description:
      '`true` when this is the stored answer of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string', const: 'Bearer' } },
};

export const rateHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

const headersOf: Record<ErrorCode, string[]> = {
  bad_request: rateHeaders,
  unauthorized: ['WWW-Authenticate'],
  forbidden: rateHeaders,
  not_found: rateHeaders,
  validation_error: rateHeaders,
  rate_limited: ['Retry-After', ...rateHeaders],
  server_error: rateHeaders,
};

export function headerReferences(names: string[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export function errorResponseBody(code: ErrorCode): Response {
  return {
    description: meaningOf[code],
    headers: headerReferences(['X-Request-Id', ...headersOf[code]]),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}

export function errorResponses(): Record<string, Response> {
  const codes = Object.keys(statusOf) as ErrorCode[];
  return Object.fromEntries(codes.map((code) => [responseNames[code], errorResponseBody(code)]));
}

export const parameters: Record<string, Parameter> = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Makes a retry safe: for 24 hours the same key with the same request answers what the first one did.',
    schema: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$',
    },
  },
};

export const idempotencyKey: Reference = { $ref: '#/components/parameters/IdempotencyKey' };
