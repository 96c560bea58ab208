-- A delivery that has ended carries its last attempt itself. Most end with their first, so most are one row and not two.
-- Those that ended before this keep all of theirs in delivery_attempts.
alter table deliveries
  add attempted_at timestamptz(3), -- null: cancelled, or ended before these columns came
  add duration_ms int,
  add status int,
  add error text,
  add response text;
