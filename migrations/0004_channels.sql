-- Channels: messages on their way out, what platforms call things, and media that stays with its platform.

-- A platform's call names a channel by its id alone; its workspace is found here.
create unique index channels_id on channels (id);

alter table channels add templates_synced_at timestamptz; -- last asked of the platform

alter table messages add template_variables jsonb; -- of a message made from a template

alter table templates
  add category text, -- as the platform files it
  add external_id text; -- what the platform calls it
create unique index templates_external on templates (workspace_id, channel_id, external_id) where external_id is not null;

-- Outgoing messages that no platform has taken yet: one row for each, gone once the message is sent or has failed.
-- As in delivery_queue the lease stands in no index, so that a claim is an update in place.
create table outgoing_queue (
  workspace_id uuid not null,
  id uuid not null, -- the message
  channel_id uuid not null,
  conversation_id uuid not null,
  seq int not null, -- of the message: a conversation's messages leave in this order
  attempts int not null default 0, -- made and recorded so far
  next_at timestamptz not null,
  claim_id uuid,
  leased_until timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, channel_id) references channels,
  foreign key (workspace_id, conversation_id) references conversations on delete cascade
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
create index outgoing_queue_lane on outgoing_queue (channel_id, next_at, id);
create unique index outgoing_queue_order on outgoing_queue (workspace_id, conversation_id, seq);

-- Media that lies with the platform: the service streams it when it is asked for.
create table media (
  workspace_id uuid not null,
  id uuid not null,
  channel_id uuid not null,
  external_id text not null,
  content_type text not null,
  file_name text not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, channel_id) references channels
);
