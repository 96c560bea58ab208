-- How many conversations were last updated on each day, by status: a deep page adds up days instead of reading every
-- conversation before it. Kept as the totals are (migration 0001): a change appends deltas, a roll-up folds them. Most
-- messages move nothing, as their conversation was already updated that day.
create table conversation_days (
  workspace_id uuid not null references workspaces,
  status text not null,
  day date not null, -- in UTC
  n bigint not null,
  primary key (workspace_id, status, day)
) with (fillfactor = 50);

create table conversation_day_deltas (
  workspace_id uuid not null,
  status text not null,
  day date not null,
  n bigint not null
) with (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000);
create index conversation_day_deltas_workspace on conversation_day_deltas (workspace_id);

create function utc_day(moment timestamptz) returns date language sql immutable as $$
  select (moment at time zone 'UTC')::date
$$;

create function count_conversation_days() returns trigger language plpgsql as $$
begin
  insert into conversation_day_deltas (workspace_id, status, day, n)
  select workspace_id, status, utc_day(updated_at), sum(case tg_op when 'INSERT' then 1 else -1 end)
  from changed group by 1, 2, 3;
  return null;
end $$;

create function count_conversation_day_move() returns trigger language plpgsql as $$
begin
  insert into conversation_day_deltas (workspace_id, status, day, n)
  values (old.workspace_id, old.status, utc_day(old.updated_at), -1),
         (new.workspace_id, new.status, utc_day(new.updated_at), 1);
  return null;
end $$;

create trigger count_inserted_day after insert on conversations
  referencing new table as changed for each statement execute function count_conversation_days();
create trigger count_deleted_day after delete on conversations
  referencing old table as changed for each statement execute function count_conversation_days();
create trigger count_moved_day after update of status, updated_at on conversations for each row
  when (old.status is distinct from new.status or utc_day(old.updated_at) is distinct from utc_day(new.updated_at))
  execute function count_conversation_day_move();

insert into conversation_days
select workspace_id, status, utc_day(updated_at), count(*) from conversations group by 1, 2, 3;
