-- A lane is read by its time alone. With the id in these indexes PostgreSQL could search them for an id, and on a queue
-- that was empty when it planned it did: page by page through all that waits, instead of by the key.
drop index delivery_queue_lane;
create index delivery_queue_lane on delivery_queue (webhook_id, next_at);
drop index outgoing_queue_lane;
create index outgoing_queue_lane on outgoing_queue (channel_id, next_at);
