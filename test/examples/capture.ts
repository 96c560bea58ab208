import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorCode } from '../../server/errors.ts';
import { eventTypes } from '../../server/events/names.ts';
import type { Example, Examples } from '../../server/http/openapi/examples.ts';
import { type ApiDocument, operationsOf } from '../../server/http/openapi/types.ts';
import { eventsOf, eventually } from '../factory.ts';
import { clientFor, type Service, type Workspace } from '../harness.ts';
import { createStabiliser } from './stable.ts';
import { type Ended, provokeErrors, tellStory } from './story.ts';

export interface Telling {
  /** Path parameters. */
  params?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
  /** The summary of the operation when not given. */
  title?: string;
  /** Whose key; the workspace's own when not given. */
  key?: string;
}

// The story looks into answers freely, as tests do.
// oxlint-disable-next-line typescript/no-explicit-any
export type Tell = (operationId: string, telling?: Telling) => Promise<any>;

/** Plays the story on a fresh service and writes down every request and its answer. */
export async function captureExamples(
  service: Service,
  workspace: Workspace,
  stopWorker: () => Promise<void>,
): Promise<Examples> {
  const operations = await operationsById(service);
  const { beginStep, stable } = createStabiliser();

  async function play(operationId: string, telling: Telling): Promise<{ example: Example; data: unknown }> {
    beginStep(await databaseTime(service));
    const { method, path, summary } = operations.get(operationId) ?? missing(operationId);
    const { params = {}, query, headers, body, title = summary, key = workspace.key } = telling;
    const filled = path.replaceAll(
      /\{(\w+)\}/g,
      (_, name: string) => params[name] ?? missing(`${path} ${name}`),
    );
    const address = `${filled}${query ? `?${new URLSearchParams(query).toString()}` : ''}`;
    const answer = await clientFor(service.baseUrl, key)(method, address, body, headers ? { headers } : {});
    // Two steps never share a millisecond.
    await sleep(3);
    const example = stable({
      operationId,
      title,
      request: { method, path: address, ...(headers && { headers }), ...(body !== undefined && { body }) },
      answer: {
        status: answer.status,
        ...shownHeaders(answer.headers),
        ...(answer.body !== undefined && { body: answer.body }), // media is bytes
      },
    });
    return { example, data: answer.body?.data };
  }

  const told: Example[] = [];
  const tell: Tell = async (operationId, telling = {}) => {
    const { example, data } = await play(operationId, telling);
    told.push(example);
    return data;
  };
  const ended: Ended = (id) =>
    eventually(
      10_000,
      () => workspace.request('GET', `/deliveries/${id}`),
      ({ body }) => body.data.state !== 'pending',
    );
  await tellStory(tell, workspace, ended);

  await stopWorker();
  const raised = await eventsOf(service, workspace);
  const events = eventTypes.map((type) => [
    type,
    stable(raised.find(({ event, test }) => event === type && !test)),
  ]);

  const errors = {} as Record<ErrorCode, Example>;
  await provokeErrors(service, async (code, operationId, telling) => {
    const { example } = await play(operationId, telling);
    assert.equal((example.answer.body as { error: { code: string } }).error.code, code);
    errors[code] = example;
  });
  return { operations: told, errors, events: Object.fromEntries(events) };
}

async function databaseTime(service: Service): Promise<number> {
  const [row] = await service.sql<{ now: string }>('select clock_timestamp() as now');
  return Date.parse(row!.now);
}

async function operationsById(service: Service) {
  const { body } = await service.request('GET', '/openapi.json');
  return new Map(
    operationsOf(body as ApiDocument).map(({ path, method, operation }) => [
      operation.operationId,
      { path, method: method.toUpperCase(), summary: operation.summary },
    ]),
  );
}

/** The headers that say something about this answer, and not about the moment. */
function shownHeaders(headers: Headers): { headers?: Record<string, string> } {
  const shown = ['Link', 'Idempotent-Replayed', 'WWW-Authenticate', 'Retry-After'].flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return shown.length > 0 ? { headers: Object.fromEntries(shown) } : {};
}

function missing(what: string): never {
  throw new Error(`the story names ${what}, which there is not`);
}
