import Type from 'typebox';
import type { Context } from '../../context.ts';
import { momentOf } from '../../moment.ts';
import { invalid } from '../../errors.ts';
import { insertSampleEvent } from '../../events/emit.ts';
import { answerOnce } from '../../http/idempotency.ts';
import { type App, dataOf, IdParams, listOf, sendPage } from '../../http/route.ts';
import { toId } from '../../ids.ts';
import { pageOf } from '../../page.ts';
import { byId } from '../../references.ts';
import { findWebhook } from '../queries.ts';
import { type DeliveryRow, findDelivery, insertDelivery, listDeliveries, recoverFailed } from './queries.ts';
import {
  defaultPerPage,
  Delivery,
  DeliveryDetail,
  DeliveryQuery,
  Recovered,
  RecoverRequest,
  TestRequest,
} from './schema.ts';

const mostRecovered = 10_000;
const daySeconds = 86_400;

export function deliveryRoutes(app: App, ctx: Context): void {
  app.addSchema(Delivery);
  app.addSchema(DeliveryDetail);
  const tags = ['Deliveries'];
  const { webhookRetrySeconds, webhookTimeoutSeconds } = ctx.config;
  const retries = webhookRetrySeconds.reduce((sum, seconds) => sum + seconds + webhookTimeoutSeconds, 0);
  const failsWithinSeconds = retries + daySeconds; // and a day in which no worker ran
  const One = dataOf(Type.Ref('Delivery#'));

  app.get(
    '/webhooks/:id/deliveries',
    {
      config: { scope: 'webhooks:read' },
      schema: {
        operationId: 'listDeliveries',
        summary: 'List the deliveries of a webhook',
        description: 'Newest first: what waits and what ended in the last 30 days.',
        tags,
        params: IdParams,
        querystring: DeliveryQuery,
        response: { 200: listOf(Type.Ref('Delivery#')) },
      },
    },
    async (request, reply) => {
      const { workspaceId } = request.caller;
      const page = pageOf(request.query, defaultPerPage);
      const { id } = await byId('webhook', request.params.id, (uuid) =>
        findWebhook(ctx.db, workspaceId, uuid),
      );
      const { rows, total } = await listDeliveries(ctx.db, workspaceId, id, request.query, page);
      return sendPage(request, reply, page, { rows: rows.map(deliveryOf), total });
    },
  );

  app.get(
    '/deliveries/:id',
    {
      config: { scope: 'webhooks:read' },
      schema: {
        operationId: 'getDelivery',
        summary: 'Read a delivery',
        description: 'With every attempt and the exact body.',
        tags,
        params: IdParams,
        response: { 200: dataOf(Type.Ref('DeliveryDetail#')) },
      },
    },
    async (request): Promise<{ data: DeliveryDetail }> => {
      const { workspaceId } = request.caller;
      const row = await byId('delivery', request.params.id, (id) => findDelivery(ctx.db, workspaceId, id));
      const attempts = row.made.map(({ n, at, duration_ms, status, error, response }) => ({
        n,
        at,
        duration_ms,
        status,
        error,
        response,
      }));
      return { data: { ...deliveryOf(row), attempts, body: row.body } };
    },
  );

  app.post(
    '/deliveries/:id/redeliver',
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'redeliver',
        summary: 'Deliver an event again',
        description:
          'Opens a new delivery of the same event, with the same body and event id, and sends it at once.',
        tags,
        params: IdParams,
        response: { 201: One },
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, async (tx) => {
        const { workspaceId } = request.caller;
        const before = await byId('delivery', request.params.id, (id) => findDelivery(tx, workspaceId, id));
        if (before.state === 'pending') throw invalid('id', 'state', 'This delivery has not ended yet');
        if (before.body === null)
          throw invalid('id', 'retention', 'The event of this delivery is no longer kept');
        if (!(await findWebhook(tx, workspaceId, before.webhook_id))) {
          throw invalid('id', 'deleted', 'The webhook of this delivery was deleted');
        }
        const row = await insertDelivery(tx, workspaceId, {
          webhookId: before.webhook_id,
          eventId: before.event_id,
          eventType: before.event_type,
          redeliveryOf: before.id,
        });
        return { status: 201, data: deliveryOf(row) };
      }),
  );

  app.post(
    '/webhooks/:id/recover',
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'recoverWebhook',
        summary: 'Deliver again what failed',
        description:
          'The way back after an outage of the receiver: a new delivery for each one that failed since then.',
        tags,
        params: IdParams,
        body: RecoverRequest,
        response: { 200: dataOf(Recovered) },
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, async (tx) => {
        const { workspaceId } = request.caller;
        const { id } = await byId('webhook', request.params.id, (uuid) => findWebhook(tx, workspaceId, uuid));
        const since = momentOf('since', request.body.since);
        const recovered = await recoverFailed(tx, workspaceId, id, {
          since,
          limit: mostRecovered,
          failsWithinSeconds,
        });
        return { status: 200, data: { recovered, has_more: recovered === mostRecovered } };
      }),
  );

  app.post(
    '/webhooks/:id/test',
    {
      config: { scope: 'webhooks:write' },
      preValidation: async (request) => {
        request.body ??= {}; // nothing to say is fine
      },
      schema: {
        operationId: 'testWebhook',
        summary: 'Send a test event',
        description:
          'A sample event, marked `"test": true`, to this webhook alone. Read the delivery to see the answer.',
        tags,
        params: IdParams,
        body: TestRequest,
        response: { 201: One },
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, async (tx) => {
        const { workspaceId } = request.caller;
        const { id, events } = await byId('webhook', request.params.id, (uuid) =>
          findWebhook(tx, workspaceId, uuid),
        );
        const eventType = request.body.event ?? events[0]!;
        const eventId = await insertSampleEvent(tx, workspaceId, eventType);
        const row = await insertDelivery(tx, workspaceId, {
          webhookId: id,
          eventId,
          eventType,
          redeliveryOf: null,
        });
        return { status: 201, data: deliveryOf(row) };
      }),
  );
}

function deliveryOf(row: DeliveryRow): Delivery {
  return {
    id: toId('delivery', row.id),
    webhook_id: toId('webhook', row.webhook_id),
    event: row.event_type,
    event_id: toId('event', row.event_id),
    state: row.state,
    next_attempt_at: row.next_at,
    redelivery_of: row.redelivery_of && toId('delivery', row.redelivery_of),
    created_at: row.created_at,
    attempts: row.attempts,
  };
}
