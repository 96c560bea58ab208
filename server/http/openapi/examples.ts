import { readFileSync } from 'node:fs';
import { type ErrorCode, statusOf } from '../../errors.ts';
import type { EventType } from '../../events/names.ts';
import { errorResponseBody, responseName } from './components.ts';
import { type ApiDocument, type Content, type Operation, operationsOf, type Response } from './types.ts';

/** Captured from the running service by `npm run examples`, never written by hand. */
export interface Examples {
  operations: Example[];
  errors: Record<ErrorCode, Example>;
  events: Record<EventType, object>;
}

export interface Example {
  operationId: string;
  title: string;
  request: { method: string; path: string; headers?: Record<string, string>; body?: unknown };
  answer: { status: number; headers?: Record<string, string>; body?: unknown };
}

export const examplesFile = new URL('examples.json', import.meta.url);

export const examples = JSON.parse(readFileSync(examplesFile, 'utf8')) as Examples;

/** Puts every example where it belongs in the document. */
export function addExamples(document: ApiDocument): ApiDocument {
  for (const { path, operation } of operationsOf(document)) {
    for (const example of examples.operations) {
      if (example.operationId === operation.operationId) addToOperation(operation, path, example);
    }
  }
  for (const [code, { title, answer }] of Object.entries(examples.errors)) {
    addTo(document.components.responses[responseName(code as ErrorCode)]?.content, title, answer.body);
  }
  for (const [type, body] of Object.entries(examples.events)) {
    addTo(document.webhooks[type]?.post.requestBody?.content, type, body);
  }
  return document;
}

function addToOperation(operation: Operation, path: string, { title, request, answer }: Example): void {
  // A request that was refused may break the very schema it would be an example of.
  if (answer.status < 300) addTo(operation.requestBody?.content, title, request.body);
  addToParameters(operation, path, request.path);
  addTo(responseOf(operation, answer.status)?.content, title, answer.body);
}

/** An error that is peculiar to an operation is shown with it, in place of the common one. */
function responseOf({ responses }: Operation, status: number): Response | undefined {
  const code = (Object.keys(statusOf) as ErrorCode[]).find((code) => statusOf[code] === status);
  const known = responses[status];
  if (known && '$ref' in known && code) responses[status] = errorResponseBody(code);
  return responses[status] as Response | undefined;
}

function addTo(content: Content | undefined, title: string, value: unknown): void {
  const media = content?.['application/json'];
  if (!media || value === undefined) return;
  media.examples = { ...media.examples, [slug(title)]: { summary: title, value } };
}

function addToParameters({ parameters = [] }: Operation, path: string, requested: string): void {
  const url = new URL(requested, 'http://inbox');
  const segments = url.pathname.split('/');
  const names = path.split('/');
  for (const parameter of parameters) {
    if ('$ref' in parameter || parameter.example !== undefined) continue;
    const text =
      parameter.in === 'path'
        ? segments[names.indexOf(`{${parameter.name}}`)]
        : url.searchParams.get(parameter.name);
    if (text) parameter.example = parameter.schema.type === 'integer' ? Number(text) : text;
  }
}

const slug = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .replaceAll(/^-|-$/g, '');
