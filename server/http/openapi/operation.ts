import type { ErrorCode } from '../../errors.ts';
import { statusOf } from '../../errors.ts';
import { type Kind, prefixes } from '../../ids.ts';
import type { Scope } from '../scopes.ts';
import { bearer, errorResponse, headerReferences, idempotencyKey, rateHeaders } from './components.ts';
import type { Method, Operation, Parameter, Reference, Response, Schema } from './types.ts';

export interface Place {
  method: Method;
  path: string;
  /** undefined: public. */
  scope: Scope | undefined;
}

/** What the routes need not repeat: security, error answers, headers, and what every POST and every list has. */
export function completeOperation(operation: Operation, place: Place): Operation {
  const {
    operationId,
    summary,
    description,
    tags,
    parameters: _,
    requestBody,
    responses,
    ...rest
  } = operation;
  const parameters = parametersOf(operation, place);
  return {
    operationId,
    summary,
    description: withAccess(description, place),
    tags,
    security: place.scope === undefined ? [] : [{ [bearer]: [place.scope] }],
    ...rest,
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: { ...successes(responses as Record<string, Response>, place), ...errors(operation, place) },
  };
}

function withAccess(description: string | undefined, { scope }: Place): string {
  const access = scope === undefined ? 'Needs no API key.' : `Needs the scope \`${scope}\`.`;
  return description === undefined ? access : `${description}\n\n${access}`;
}

function parametersOf(
  { parameters = [] }: Operation,
  { method, path, scope }: Place,
): (Parameter | Reference)[] {
  const own = (parameters as Parameter[]).map(({ name, in: where, required, description, schema }) => ({
    name,
    in: where,
    required: required ?? false,
    ...(description !== undefined && { description }),
    schema,
  }));
  return [
    ...own.filter((parameter) => parameter.in === 'path').map((parameter) => describeId(parameter, path)),
    ...own.filter((parameter) => parameter.in !== 'path'),
    ...(isIdempotent(method, scope) ? [idempotencyKey] : []),
  ];
}

const isIdempotent = (method: Method, scope: Scope | undefined) => method === 'post' && scope !== undefined;

const kindOf: Record<string, Kind> = {
  conversations: 'conversation',
  contacts: 'contact',
  webhooks: 'webhook',
  deliveries: 'delivery',
  channels: 'channel',
  agents: 'agent',
  teams: 'team',
  templates: 'template',
  labels: 'label',
  custom_attributes: 'customAttribute',
  api_keys: 'key',
  media: 'media',
};

/** `/contacts/{id}`: "Id of the contact, `ct_…`." */
function describeId(parameter: Parameter, path: string): Parameter {
  const segments = path.split('/');
  const collection = segments[segments.indexOf(`{${parameter.name}}`) - 1] ?? '';
  const kind = kindOf[collection];
  if (parameter.description !== undefined || kind === undefined) return parameter;
  const noun = kind === 'key' ? 'API key' : kind.replace(/[A-Z]/, (letter) => ` ${letter.toLowerCase()}`);
  return { ...parameter, description: `Id of the ${noun}, \`${prefixes[kind]}_…\`.` };
}

function successes(responses: Record<string, Response>, place: Place): Record<string, Response> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, { description, content, ...rest }]) => {
      const isList = content?.['application/json']?.schema.properties?.['meta'] !== undefined;
      const headers = [
        'X-Request-Id',
        ...(place.scope === undefined ? [] : rateHeaders),
        ...(isList ? ['Link'] : []),
        ...(isIdempotent(place.method, place.scope) ? ['Idempotent-Replayed'] : []),
      ];
      const made: Response = {
        description: description === 'Default Response' ? successText(status, isList) : description,
        headers: headerReferences(headers),
        ...rest,
        ...(content && { content }),
      };
      return [status, made];
    }),
  );
}

function successText(status: string, isList: boolean): string {
  if (isList) return 'One page, and `meta` about all of them.';
  return status === '201' ? 'Created.' : 'Done.';
}

function errors(operation: Operation, { method, path, scope }: Place): Record<string, Reference> {
  const codes: ErrorCode[] = ['bad_request'];
  if (scope !== undefined) codes.push('unauthorized', 'forbidden');
  else if (path.includes('{')) codes.push('forbidden'); // a platform or a browser, with a proof of its own
  if (path.includes('{')) codes.push('not_found');
  if (operation.requestBody || isIdempotent(method, scope) || hasContentRule(operation))
    codes.push('validation_error');
  if (scope !== undefined) codes.push('rate_limited');
  codes.push('server_error');
  return Object.fromEntries(codes.map((code) => [String(statusOf[code]), errorResponse(code)]));
}

/** Of the query: these are rules about content, and breaking one is a 422. */
function hasContentRule({ parameters = [] }: Operation): boolean {
  const rules = ['format', 'pattern', 'maxLength', 'minLength'];
  return (parameters as { schema?: Schema }[]).some(({ schema }) =>
    rules.some((rule) => schema && rule in schema),
  );
}
