-- Webhook deliveries. Live work is one narrow table; everything finished is insert-only and lies in partitions of a
-- day, so that forgetting a day is dropping a table. A UUIDv7 begins with its time: a range of ids is a range of time.

alter table webhooks
  add sealed_previous_secret bytea,
  add previous_secret_until timestamptz,
  add failing_since timestamptz(3);

-- Lives as long as there is work: one row for each event and webhook. The lease stands in no index, so a claim is an
-- update in place (HOT) while the page has room.
create table delivery_queue (
  workspace_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  attempts int not null default 0, -- made and recorded so far
  next_at timestamptz not null,
  created_at timestamptz(3) not null,
  redelivery_of uuid,
  claim_id uuid,
  leased_until timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, webhook_id) references webhooks
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
create index delivery_queue_lane on delivery_queue (webhook_id, next_at, id);

-- How a delivery ended.
create table deliveries (
  workspace_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  state text not null check (state in ('delivered', 'failed', 'cancelled')),
  attempts int not null,
  created_at timestamptz(3) not null,
  redelivery_of uuid,
  primary key (workspace_id, id)
) partition by range (id);
create index deliveries_webhook on deliveries (workspace_id, webhook_id, id desc);
create index deliveries_redelivery on deliveries (workspace_id, redelivery_of) where redelivery_of is not null;

create table delivery_attempts (
  workspace_id uuid not null,
  delivery_id uuid not null,
  n int not null,
  at timestamptz(3) not null,
  duration_ms int not null,
  status int,
  error text,
  response text,
  primary key (workspace_id, delivery_id, n)
) partition by range (delivery_id);

alter table events rename to events_before;
alter table events_before rename constraint events_pkey to events_before_pkey;
create table events (
  workspace_id uuid not null,
  id uuid not null,
  type text not null,
  body text not null,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id)
) partition by range (id);

-- The smallest UUIDv7 of a moment.
create function first_uuid_of(moment timestamptz) returns uuid language sql immutable as $$
  select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- What comes on a day nobody made a partition for is kept all the same.
create table events_default partition of events default;
create table deliveries_default partition of deliveries default;
create table delivery_attempts_default partition of delivery_attempts default;

-- Attached, not created in place: CREATE … PARTITION OF would hold up every reader and writer of the parent.
create function add_day_partition(parent text, day date) returns boolean language plpgsql as $$
declare
  key text := case parent when 'delivery_attempts' then 'delivery_id' else 'id' end;
  part text := parent || '_' || to_char(day, 'YYYYMMDD');
  low uuid := first_uuid_of(day::timestamp at time zone 'UTC');
  high uuid := first_uuid_of((day + 1)::timestamp at time zone 'UTC');
begin
  if to_regclass(part) is not null then return false; end if;
  execute format('lock table %I in access exclusive mode', parent || '_default');
  execute format('create table %I (like %I including defaults including constraints)', part, parent);
  execute format('with moved as (delete from %I where %I >= %L and %I < %L returning *) insert into %I select * from moved',
    parent || '_default', key, low, key, high, part);
  execute format('alter table %I add constraint %I check (%I >= %L and %I < %L)', part, part || '_range', key, low, key, high);
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, part, low, high);
  execute format('alter table %I drop constraint %I', part, part || '_range');
  return true;
end $$;

select add_day_partition(parent, current_date + days)
from unnest(array['events', 'deliveries', 'delivery_attempts']) parent, generate_series(-1, 3) days;

insert into events select workspace_id, id, type, body, created_at from events_before;
drop table events_before;

-- The id of an event's delivery to a webhook: its time is the event's, the rest is particular to the pair.
create function delivery_id_of(event_id uuid, webhook_id uuid) returns uuid language sql immutable as $$
  select (left(event_id::text, 20) || right(md5(event_id::text || webhook_id::text), 15))::uuid
$$;
