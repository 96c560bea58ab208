import { statement, type Tx } from '../db/client.ts';
import { sendRows } from '../db/rows.ts';
import { newUuid, toId } from '../ids.ts';
import type { EventType } from './names.ts';
import { samples } from './samples.ts';

export interface NewEvent {
  workspaceId: string;
  type: EventType;
  at: string;
  data: object;
}

/** The event, and one delivery for each webhook that subscribed to its type. */
const insertEvent = statement<never>(
  'events.insert',
  `with event as (
     insert into events (workspace_id, id, type, body, created_at) values ($1, $2, $3, $4, $5))
   insert into delivery_queue (workspace_id, id, webhook_id, event_id, event_type, next_at, created_at)
   select $1, delivery_id_of($2, w.id), w.id, $2, $3, clock_timestamp(), $5
   from webhooks w where w.workspace_id = $1 and not w.deleted and $3 = any (w.events)`,
);

const insertEvents = statement<never>(
  'events.insert_many',
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
  const rows = events.map((event) => {
    const id = newUuid();
    return [event.workspaceId, id, event.type, JSON.stringify(envelope(id, event)), event.at];
  });
  sendRows(tx, insertEvent, insertEvents, rows);
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
