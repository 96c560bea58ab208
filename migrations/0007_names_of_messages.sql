-- Each side numbers its own messages: what a platform calls one of ours may also be what a customer's message is called.
alter table message_external_ids add outgoing boolean not null default false;
update message_external_ids e set outgoing = true
from messages m where m.workspace_id = e.workspace_id and m.id = e.message_id and m.type = 'outgoing';
alter table message_external_ids
  drop constraint message_external_ids_pkey,
  add primary key (workspace_id, channel_id, outgoing, external_id);

-- Under which name the customer last wrote in this conversation: answers go there.
alter table conversations add customer_external_id text;
