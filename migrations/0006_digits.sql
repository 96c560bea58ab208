-- Every run of four digits in what a contact is searched by, each mixed with its workspace. Digits make few different
-- trigrams, so a part of a phone number had long lists to read in contacts_search: 15 ms at a million contacts, 1 so.
alter table contacts add digits int[] not null default '{}';
create index contacts_digits on contacts using gin (digits);

-- For what is there already; the service computes it for what comes (server/contacts/search.ts), 30 times as fast.
create function contact_digits(workspace_id uuid, search text) returns int[] language sql immutable as $$
  select array(
    select distinct (('x' || right(workspace_id::text, 5))::bit(20)::int % 200000) * 10000 + substr(run[1], place, 4)::int
    from regexp_matches(search, '[0-9]{4,}', 'g') run, generate_series(1, length(run[1]) - 3) place)
$$;
update contacts set digits = contact_digits(workspace_id, search) where search ~ '[0-9]{4}';
