import { statement, type Tx } from '../db/client.ts';
import { newUuid, toId } from '../ids.ts';
import type { EventType } from './names.ts';
import { samples } from './samples.ts';

/** The event, and one delivery for each webhook that subscribed to its type. */
const insertEvent = statement<never>(
  'events.insert',
  `with event as (
     insert into events (workspace_id, id, type, body, created_at) values ($1, $2, $3, $4, $5))
   insert into delivery_queue (workspace_id, id, webhook_id, event_id, event_type, next_at, created_at)
   select $1, delivery_id_of($2, w.id), w.id, $2, $3, clock_timestamp(), $5
   from webhooks w where w.workspace_id = $1 and not w.deleted and $3 = any (w.events)`,
);

/**
 * Writes an event beside the change it tells of, in the change's own transaction: neither exists without the other.
 * The body is final here. What is stored is what is signed and sent, on every attempt.
 */
export function emit(tx: Tx, workspaceId: string, type: EventType, at: string, data: object): void {
  const id = newUuid();
  const body = JSON.stringify(envelope(id, workspaceId, type, at, data));
  tx.send(insertEvent, [workspaceId, id, type, body, at]);
  tx.announce('deliveries');
}

function envelope(id: string, workspaceId: string, type: EventType, at: string, data: object) {
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
  const body = JSON.stringify({ ...envelope(id, workspaceId, type, at, samples[type]), test: true });
  tx.send(insertUnsubscribed, [workspaceId, id, type, body, at]);
  return id;
}
