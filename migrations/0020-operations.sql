-- What operators see of the nodes and of the guard.

-- Null for nodes of older versions.
alter table node add column version text, add column role text, add column started_at timestamptz;

-- Starts of verifications that the guard blocked, by the day (UTC) of the start.
create table blocked_start (
  day date not null,
  -- Like the reason of the verification.
  rule text not null,
  application_id uuid not null,
  blocked integer not null,
  primary key (day, rule, application_id)
) with (fillfactor = 70);
