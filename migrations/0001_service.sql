-- The service: workspaces and their settings, contacts, conversations, messages, the event outbox.
--
-- Every table leads with workspace_id and every reference carries it, so the database itself refuses a
-- reference across workspaces, and the schema can be spread over machines by that one column.
-- Times are kept to the millisecond: what a client reads is what is stored.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

create table workspaces (
  id uuid primary key,
  name text not null,
  plan text not null check (plan in ('starter', 'pro', 'business')),
  created_at timestamptz(3) not null default clock_timestamp()
);

-- One row: proves at start that INBOX_SECRET_KEY is the one that encrypted what is stored here.
create table secret_key_check (
  singleton boolean primary key default true check (singleton),
  sealed bytea not null
);

create table agents (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  name text not null,
  email text,
  role text not null check (role in ('agent', 'admin')),
  archived boolean not null default false,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, id)
);
create unique index agents_email on agents (workspace_id, lower(email)) where not archived;

create table teams (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  name text not null,
  archived boolean not null default false,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, id)
);

create table channels (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  type text not null,
  name text not null,
  after_resolved text not null default 'reopen' check (after_resolved in ('reopen', 'new')),
  settings jsonb not null default '{}',
  sealed_settings bytea, -- the secrets among them, encrypted
  archived boolean not null default false,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, id)
);

create table templates (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  name text not null,
  language text not null,
  body text not null,
  status text not null check (status in ('approved', 'pending', 'rejected')),
  channel_id uuid, -- null: every channel
  archived boolean not null default false,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, id),
  foreign key (workspace_id, channel_id) references channels
);

create table labels (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  name text not null,
  color text not null,
  archived boolean not null default false,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, id),
  unique (workspace_id, name)
);

create table custom_attributes (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  key text not null,
  type text not null check (type in ('string', 'number', 'boolean', 'date')),
  label text not null,
  archived boolean not null default false,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, id)
);
create unique index custom_attributes_key on custom_attributes (workspace_id, key) where not archived;

create table api_keys (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  name text not null,
  hash bytea not null unique, -- SHA-256 of the key: it is random, so nothing slower is needed
  scopes text[] not null,
  agent_id uuid,
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked boolean not null default false,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, id),
  foreign key (workspace_id, agent_id) references agents
);

-- Unlogged: a crash may lose the windows and nothing else. Room on each page keeps every update in place (HOT).
create unlogged table rate_windows (
  bucket text primary key,
  opened_at timestamptz not null,
  used int not null,
  granted int not null, -- by the last update, for its own RETURNING
  capacity int not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 2000);

create table idempotency_keys (
  workspace_id uuid not null references workspaces,
  api_key_id uuid not null,
  key text not null,
  fingerprint bytea not null, -- of method, path and body
  status int not null,
  sealed_answer bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, api_key_id, key),
  foreign key (workspace_id, api_key_id) references api_keys
);
create index idempotency_keys_age on idempotency_keys (created_at);

create table contacts (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  name text not null,
  phone text,
  email text,
  company text,
  tags text[] not null default '{}',
  custom_attributes jsonb not null default '{}',
  search text not null, -- name, e-mail and phone in lower case, as the service folds them
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, id)
);
create index contacts_newest on contacts (workspace_id, created_at desc, id desc);
create index contacts_phone on contacts (workspace_id, phone, created_at) where phone is not null;
create index contacts_email on contacts (workspace_id, lower(email), created_at) where email is not null;
create index contacts_search on contacts using gin (workspace_id, search gin_trgm_ops);

-- contacts.tags turned round: the contacts of a tag, newest first, as one index range.
create table contact_tags (
  workspace_id uuid not null,
  tag text not null,
  contact_created_at timestamptz(3) not null,
  contact_id uuid not null,
  primary key (workspace_id, tag, contact_created_at, contact_id),
  foreign key (workspace_id, contact_id) references contacts on delete cascade
);
create index contact_tags_contact on contact_tags (workspace_id, contact_id);

-- Who a customer is on a channel, remembered from the first message on.
create table contact_identities (
  workspace_id uuid not null,
  channel_id uuid not null,
  identity text not null,
  contact_id uuid not null,
  primary key (workspace_id, channel_id, identity),
  foreign key (workspace_id, channel_id) references channels,
  foreign key (workspace_id, contact_id) references contacts on delete cascade
);
create index contact_identities_contact on contact_identities (workspace_id, contact_id);

create table conversations (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  channel_id uuid not null,
  contact_id uuid not null,
  assignee_id uuid,
  -- `assignee_id is null` gives no index order to the planner (a list of the unassigned sorted 334,000 rows: 253 ms); an
  -- equality does (under 1 ms).
  assignee_or_none uuid not null
    generated always as (coalesce(assignee_id, '00000000-0000-0000-0000-000000000000')) stored,
  team_id uuid,
  status text not null default 'open' check (status in ('open', 'pending', 'resolved', 'snoozed')),
  snoozed_until timestamptz(3),
  label_ids uuid[] not null default '{}',
  last_seq int not null default 0, -- of its messages, which are numbered without gaps: it is also their count
  last_incoming_at timestamptz(3),
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, id),
  foreign key (workspace_id, channel_id) references channels,
  foreign key (workspace_id, contact_id) references contacts,
  foreign key (workspace_id, assignee_id) references agents,
  foreign key (workspace_id, team_id) references teams
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Each new message moves updated_at, so each index with it in is paid for on every message. Status comes before it in
-- all four: a list without a status is the merge of four ordered ranges, and four indexes serve all eight combinations.
create index conversations_status on conversations (workspace_id, status, updated_at desc, id desc);
create index conversations_channel on conversations (workspace_id, channel_id, status, updated_at desc, id desc);
create index conversations_assignee on conversations (workspace_id, assignee_or_none, status, updated_at desc, id desc);
create index conversations_channel_assignee
  on conversations (workspace_id, channel_id, assignee_or_none, status, updated_at desc, id desc);
create index conversations_contact on conversations (workspace_id, contact_id, channel_id, created_at desc);
create index conversations_team on conversations (workspace_id, team_id) where team_id is not null;
create index conversations_due on conversations (snoozed_until) where status = 'snoozed' and snoozed_until is not null;

-- conversations.label_ids turned round, outside the row that every message rewrites.
create table conversation_labels (
  workspace_id uuid not null,
  label_id uuid not null,
  conversation_id uuid not null,
  primary key (workspace_id, label_id, conversation_id),
  foreign key (workspace_id, label_id) references labels,
  foreign key (workspace_id, conversation_id) references conversations on delete cascade
);
create index conversation_labels_conversation on conversation_labels (workspace_id, conversation_id);

create table messages (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  seq int not null,
  type text not null check (type in ('incoming', 'outgoing', 'activity')),
  content text not null,
  sender_type text not null check (sender_type in ('contact', 'agent', 'bot')),
  sender_id uuid, -- of a contact, an agent or an API key; null: the service itself
  private boolean not null default false,
  status text check (status in ('queued', 'sent', 'delivered', 'read', 'failed')),
  error text,
  template_id uuid,
  attachments jsonb not null default '[]',
  created_at timestamptz(3) not null,
  primary key (workspace_id, id),
  unique (workspace_id, conversation_id, seq),
  foreign key (workspace_id, conversation_id) references conversations on delete cascade
);

-- What the other side calls a message: a repeat of it is recognised here.
create table message_external_ids (
  workspace_id uuid not null,
  channel_id uuid not null,
  external_id text not null,
  conversation_id uuid not null,
  message_id uuid not null,
  primary key (workspace_id, channel_id, external_id),
  foreign key (workspace_id, channel_id) references channels,
  foreign key (workspace_id, conversation_id) references conversations on delete cascade
);

create table webhooks (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  url text not null,
  events text[] not null,
  sealed_secret bytea not null,
  deleted boolean not null default false,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, id)
);

-- The outbox. body is the exact text that will be signed and sent.
create table events (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  type text not null,
  body text not null,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id)
);

-- Exact totals without counting. A change appends deltas in its own transaction, so no two writers meet on a row;
-- a roll-up folds them into counts. A total is the count plus the deltas not yet folded, in one snapshot.
create table counts (
  workspace_id uuid not null references workspaces,
  scope text not null,
  n bigint not null,
  primary key (workspace_id, scope)
) with (fillfactor = 50);

create table count_deltas (
  workspace_id uuid not null,
  scope text not null,
  n bigint not null
) with (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000);
create index count_deltas_scope on count_deltas (workspace_id, scope);

-- One conversation counts under each of the eight combinations of the three filters.
create function conversation_scopes(status text, channel_id uuid, assignee_id uuid) returns setof text
language sql immutable as $$
  select 'conversations' || s || c || a
  from (values (''), (' status=' || status)) s (s),
       (values (''), (' channel=' || channel_id)) c (c),
       (values (''), (' assignee=' || coalesce(assignee_id::text, 'unassigned'))) a (a)
$$;

create function count_conversations() returns trigger language plpgsql as $$
begin
  insert into count_deltas (workspace_id, scope, n)
  select workspace_id, scope, sum(case tg_op when 'INSERT' then n else -n end)
  from (select workspace_id, status, channel_id, assignee_id, count(*) as n from changed group by 1, 2, 3, 4) cell,
       conversation_scopes(status, channel_id, assignee_id) scope
  group by workspace_id, scope;
  return null;
end $$;

create function count_conversation_move() returns trigger language plpgsql as $$
begin
  insert into count_deltas (workspace_id, scope, n)
  select new.workspace_id, scope, sum(n)
  from (select -1 as n, conversation_scopes(old.status, old.channel_id, old.assignee_id) as scope
        union all
        select 1, conversation_scopes(new.status, new.channel_id, new.assignee_id)) moved
  group by scope having sum(n) <> 0;
  return null;
end $$;

create trigger count_inserted after insert on conversations
  referencing new table as changed for each statement execute function count_conversations();
create trigger count_deleted after delete on conversations
  referencing old table as changed for each statement execute function count_conversations();
create trigger count_moved after update of status, channel_id, assignee_id on conversations for each row
  when ((old.status, old.channel_id, old.assignee_id) is distinct from (new.status, new.channel_id, new.assignee_id))
  execute function count_conversation_move();

create function count_contacts() returns trigger language plpgsql as $$
begin
  insert into count_deltas (workspace_id, scope, n)
  select workspace_id, scope, sum(case tg_op when 'INSERT' then 1 else -1 end)
  from changed, lateral (select 'contacts' as scope union all select 'contacts tag=' || t from unnest(tags) t) scopes
  group by workspace_id, scope;
  return null;
end $$;

create function count_contact_tags() returns trigger language plpgsql as $$
begin
  insert into count_deltas (workspace_id, scope, n)
  select new.workspace_id, 'contacts tag=' || tag, sum(n)
  from (select -1 as n, unnest(old.tags) as tag union all select 1, unnest(new.tags)) moved
  group by tag having sum(n) <> 0;
  return null;
end $$;

create trigger count_inserted after insert on contacts
  referencing new table as changed for each statement execute function count_contacts();
create trigger count_deleted after delete on contacts
  referencing old table as changed for each statement execute function count_contacts();
create trigger count_tags after update of tags on contacts for each row
  when (old.tags is distinct from new.tags) execute function count_contact_tags();
