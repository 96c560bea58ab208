import { Ajv, type ErrorObject, type Options } from 'ajv';
import type { FastifySchemaValidationError } from 'fastify';
import addFormats from 'ajv-formats';
import { ApiError, type Detail } from '../errors.ts';

/**
 * The shape decides 400 or 422. Types, required fields, enums and numeric ranges are shape (400); lengths, patterns
 * and formats are rules about content (422), and so is an enum whose schema says `contentRule: true`.
 */
const contentKeywords = new Set([
  'pattern',
  'format',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'maxProperties',
]);
const mostDetails = 20;
/** All errors of a body are listed, unless it is so large that the list itself would be the problem. */
const thoroughUpToBytes = 64 * 1024;

const common: Options = { strict: false, useDefaults: false, verbose: true, removeAdditional: false };

function ajv(options: Options): Ajv {
  const made = new Ajv({ ...common, ...options });
  addFormats.default(made, ['date-time', 'date', 'email']);
  made.addKeyword('contentRule');
  return made;
}

const forBodies = ajv({ coerceTypes: false });
const forBodiesThorough = ajv({ coerceTypes: false, allErrors: true });
const forStrings = ajv({ coerceTypes: true });

/**
 * Query strings are text and are coerced; bodies are JSON and never are (`5` is not `"5"`). Schemas are compiled when
 * the first request needs them: all of them at once took 0.4 s of every start.
 */
export function compileValidator({ schema, httpPart }: { schema: unknown; httpPart?: string }) {
  if (httpPart !== 'body') return compileForStrings(schema as QuerySchema);
  const quick = onFirstUse(() => forBodies.compile(schema as object));
  const thorough = onFirstUse(() => forBodiesThorough.compile(schema as object));
  return (data: unknown) => {
    if (quick()(data)) return true;
    const small = JSON.stringify(data)?.length < thoroughUpToBytes;
    const validate = small ? thorough() : quick();
    if (small) validate(data);
    return { error: validationErrors(validate.errors ?? []) };
  };
}

function onFirstUse<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

interface QuerySchema {
  properties?: Record<string, { type?: unknown }>;
}

/** Ajv would take `0x10`, `1e1` and ` 1` for integers, since JavaScript does: here an integer is written in digits. */
function compileForStrings(schema: QuerySchema) {
  const compiled = onFirstUse(() => forStrings.compile(schema));
  const integers = Object.entries(schema.properties ?? {})
    .filter(([, { type }]) => type === 'integer')
    .map(([name]) => name);
  return (data: Record<string, unknown>) => {
    for (const name of integers) {
      const text = data[name];
      if (typeof text === 'string' && !/^-?\d+$/.test(text)) data[name] = `not an integer: ${text}`;
    }
    const validate = compiled();
    return validate(data) ? true : { error: validationErrors(validate.errors ?? []) };
  };
}

function validationErrors(errors: ErrorObject[]): Error {
  return Object.assign(new Error('validation'), { validation: errors });
}

export function errorOfValidation(errors: FastifySchemaValidationError[], part: string): ApiError {
  const all = errors as ErrorObject[];
  const details = dedupe(all.map((error) => detailOf(error, part)));
  const isContent = all.every(
    ({ keyword, parentSchema }) =>
      contentKeywords.has(keyword) || (keyword === 'enum' && parentSchema?.['contentRule'] === true),
  );
  const message = details.map((detail) => detail.message).join('; ');
  return new ApiError(isContent ? 'validation_error' : 'bad_request', message, details);
}

function dedupe(details: Detail[]): Detail[] {
  const seen = new Map(details.map((detail) => [`${detail.field} ${detail.rule}`, detail]));
  return [...seen.values()].slice(0, mostDetails);
}

function detailOf(error: ErrorObject, part: string): Detail {
  const path = error.instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const parameters = error.params as Record<string, unknown>;
  const missing = error.keyword === 'required' ? String(parameters['missingProperty']) : '';
  const field = [path, missing].filter((piece) => piece !== '').join('.') || part;
  return { field, rule: error.keyword, message: `${field} ${sentence(error, parameters)}` };
}

function sentence(error: ErrorObject, parameters: Record<string, unknown>): string {
  const hint = error.parentSchema?.['x-rule'];
  if (typeof hint === 'string' && ['pattern', 'format'].includes(error.keyword)) return hint;
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'enum':
      return `must be one of ${(parameters['allowedValues'] as unknown[]).join(', ')}`;
    case 'type':
      return `must be ${article(String(parameters['type']))}`;
    case 'minLength':
      return `must have at least ${String(parameters['limit'])} character(s)`;
    case 'maxLength':
      return `must have at most ${String(parameters['limit'])} characters`;
    case 'maxProperties':
      return `must have at most ${String(parameters['limit'])} keys`;
    case 'maxItems':
      return `must have at most ${String(parameters['limit'])} entries`;
    case 'minItems':
      return `must have at least ${String(parameters['limit'])} entry`;
    case 'minimum':
      return `must be at least ${String(parameters['limit'])}`;
    case 'maximum':
      return `must be at most ${String(parameters['limit'])}`;
    default:
      return error.message ?? `breaks the rule ${error.keyword}`;
  }
}

const article = (types: string): string =>
  types
    .split(',')
    .map((type) => (type === 'null' ? 'null' : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`))
    .join(' or ');
