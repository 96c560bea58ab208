/**
 * The rows of one sent message with one webhook subscribed, in a single statement: the conversation, the message, the
 * event and its place in the delivery queue. Due in a day: the service beside it is not to deliver them.
 */
export const sendInOneStatement = {
  name: 'bench.send_message',
  text: `with touched as (
      update conversations set last_seq = last_seq + 1, updated_at = greatest(clock_timestamp(), updated_at)
      where workspace_id = $1 and id = $2 returning last_seq, updated_at),
    message as (
      insert into messages (workspace_id, id, conversation_id, seq, type, content, sender_type, status, created_at)
      select $1, $3, $2, last_seq, 'outgoing', $4, 'bot', 'sent', updated_at from touched),
    event as (
      insert into events (workspace_id, id, type, body, created_at)
      select $1, $5, 'message.created', $6, updated_at from touched)
    insert into delivery_queue (workspace_id, id, webhook_id, event_id, event_type, next_at, created_at)
    select $1, delivery_id_of($5, w.id), w.id, $5, 'message.created', clock_timestamp() + interval '1 day', updated_at
    from touched, webhooks w
    where w.workspace_id = $1 and not w.deleted and 'message.created' = any (w.events)`,
};

/** About as long as the event of such a message. */
export const eventBody = JSON.stringify({
  id: 'evt_00000000000000000000000000',
  event: 'message.created',
  timestamp: '2026-11-15T09:30:00.000Z',
  workspace_id: 'ws_00000000000000000000000000',
  data: {
    message: {
      id: 'msg_00000000000000000000000000',
      type: 'outgoing',
      content: 'Your order left this morning and arrives tomorrow.',
      sender: { type: 'bot', id: 'key_00000000000000000000000000', name: 'Bench' },
      attachments: [],
      private: false,
      status: 'sent',
      error: null,
      created_at: '2026-11-15T09:30:00.000Z',
    },
    conversation: { id: 'conv_00000000000000000000000000', status: 'open' },
    contact: { id: 'ct_00000000000000000000000000', name: 'Olivia Fitzgerald', phone: '+4900012345678' },
    channel: { id: 'ch_00000000000000000000000000', type: 'api' },
  },
});

export const forgetUndelivered = `delete from delivery_queue where next_at > clock_timestamp() + interval '1 hour'`;
