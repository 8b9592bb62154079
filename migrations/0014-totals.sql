-- What each carrier did with our texts, and what operators are told when it does badly.

-- Counts of a day (UTC), by the day a text was sent. Each node writes its own absolute counts; after some days a chore
-- adds them up in a row whose node is empty.
create table total_day (
  day date not null,
  -- The carrier's key, as in the queue's tables.
  carrier text not null,
  -- ISO code; empty when the number belongs to no country.
  country text not null,
  sender text not null,
  application_id uuid not null,
  node text not null,
  -- Rises with each write, so that a late write changes nothing.
  revision integer not null,
  attempts integer not null default 0,
  copies integer not null default 0,
  throttled integer not null default 0,
  in_doubt integer not null default 0,
  sent integer not null default 0,
  parts integer not null default 0,
  delivered integer not null default 0,
  undelivered integer not null default 0,
  failed integer not null default 0,
  -- Texts of verifications that no other carrier had, and how many of these verifications were approved.
  codes integer not null default 0,
  approved integer not null default 0,
  primary key (day, carrier, country, sender, application_id, node)
) with (fillfactor = 70);
create index total_day_unfolded on total_day (day) where node <> '';

-- The last hours by minute, for alerts. A text counts in the minute in which it was accepted.
create table carrier_minute (
  minute timestamptz not null,
  carrier text not null,
  country text not null,
  node text not null,
  revision integer not null,
  attempts integer not null default 0,
  throttled integer not null default 0,
  in_doubt integer not null default 0,
  sent integer not null default 0,
  -- Of the sent ones, those that the carrier has reported on.
  reported integer not null default 0,
  -- Answers by the time they took; src/quality/answer-times.ts has the bounds.
  took integer[] not null,
  primary key (minute, carrier, country, node)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- What is wrong now, and what was. A row begins when a rule first holds; it is raised when that has lasted long enough.
create table alert (
  id text primary key,
  -- The rule and what it is about: one row that is not over for each.
  key text not null,
  kind text not null,
  carrier text,
  country text,
  application_id text,
  summary text not null,
  advice text not null,
  since timestamptz not null,
  seen_at timestamptz not null,
  raised_at timestamptz,
  -- When HELIOGRAPH_ALERT_URL has answered that it knows.
  told_at timestamptz,
  cleared_at timestamptz
);
create unique index alert_open on alert (key) where cleared_at is null;
create index alert_cleared on alert (cleared_at) where cleared_at is not null;

-- Calls of HELIOGRAPH_ALERT_URL that are not answered yet.
create table alert_call (
  alert_id text not null references alert on delete cascade,
  event text not null,
  body text not null,
  tries smallint not null default 0,
  created_at timestamptz not null,
  next_try_at timestamptz not null,
  primary key (alert_id, event)
);
create index alert_call_due on alert_call (next_try_at);
