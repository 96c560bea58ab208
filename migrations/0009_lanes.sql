-- Each of these indexes serves one question, and no two of a table begin with the same column. Planned while a queue is
-- empty, all that could serve look equally good, and PostgreSQL took one that then reads all that waits.
drop index delivery_queue_lane;
create index delivery_queue_lane on delivery_queue (webhook_id, next_at);
drop index outgoing_queue_lane;
create index outgoing_queue_lane on outgoing_queue (channel_id, next_at);
drop index outgoing_queue_order;
create unique index outgoing_queue_order on outgoing_queue (conversation_id, seq);
