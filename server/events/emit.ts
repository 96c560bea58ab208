import { statement, type Tx } from '../db/client.ts';
import { newUuid, toId } from '../ids.ts';
import type { EventType } from './names.ts';
import { samples } from './samples.ts';

export interface NewEvent {
  workspaceId: string;
  type: EventType;
  at: string;
  data: object;
}

/** The events, and one delivery for each webhook that subscribed to their type. */
const insertEvents = statement<never>(
  'events.insert',
  `with event as (
     select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[])
       as e (workspace_id, id, type, body, created_at)),
   inserted as (
     insert into events (workspace_id, id, type, body, created_at) select * from event)
   insert into delivery_queue (workspace_id, id, webhook_id, event_id, event_type, next_at, created_at)
   select e.workspace_id, delivery_id_of(e.id, w.id), w.id, e.id, e.type, clock_timestamp(), e.created_at
   from event e
   join webhooks w on w.workspace_id = e.workspace_id and not w.deleted and e.type = any (w.events)`,
);

/**
 * Writes events beside the changes they tell of, in the changes' own transaction: neither exists without the other.
 * A body is final here. What is stored is what is signed and sent, on every attempt.
 */
export function emit(tx: Tx, events: NewEvent[]): void {
  const ids = events.map(newUuid);
  tx.send(insertEvents, [
    events.map(({ workspaceId }) => workspaceId),
    ids,
    events.map(({ type }) => type),
    events.map((event, i) => JSON.stringify(envelope(ids[i]!, event))),
    events.map(({ at }) => at),
  ]);
  tx.announce('deliveries');
}

function envelope(id: string, { workspaceId, type, at, data }: NewEvent) {
  return {
    id: toId('event', id),
    event: type,
    timestamp: at,
    workspace_id: toId('workspace', workspaceId),
    data,
  };
}

const clock = statement<{ now: string }>('events.clock', `select clock_timestamp() as now`);

const insertUnsubscribed = statement<never>(
  'events.insert_unsubscribed',
  `insert into events (workspace_id, id, type, body, created_at) values ($1, $2, $3, $4, $5)`,
);

/** An event about nobody, for one webhook's test; the caller queues it. */
export async function insertSampleEvent(tx: Tx, workspaceId: string, type: EventType): Promise<string> {
  const id = newUuid();
  const at = (await tx.query(clock, []))[0]!.now;
  const body = JSON.stringify({
    ...envelope(id, { workspaceId, type, at, data: samples[type] }),
    test: true,
  });
  tx.send(insertUnsubscribed, [workspaceId, id, type, body, at]);
  return id;
}
