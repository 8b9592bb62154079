-- What became of texts and verifications over time, for pictures: read by step, without a look at any record.

-- A constant default: Postgres rewrites nothing. Sent texts that the carrier has reported on, as minutes have them.
alter table total_day add column reported integer not null default 0;

-- Texts of the last day by when they were sent: by five minutes, and after some hours by the hour. Each node writes its own
-- absolute counts; a chore adds them up in a row whose node is empty.
create table total_step (
  application_id uuid not null,
  at timestamptz not null,
  -- The length of the step: 5 or 60.
  minutes smallint not null,
  -- The carrier's key, as in the queue's tables.
  carrier text not null,
  -- ISO code; empty when the number belongs to no country.
  country text not null,
  sender text not null,
  node text not null,
  -- Rises with each write, so that a late write changes nothing.
  revision integer not null,
  sent integer not null default 0,
  reported integer not null default 0,
  delivered integer not null default 0,
  undelivered integer not null default 0,
  refused integer not null default 0,
  failed integer not null default 0,
  expired integer not null default 0,
  -- Delivered texts, and codes, by the time to their report, as in total_day.
  arrived integer[],
  code_arrived integer[],
  primary key (application_id, at, minutes, carrier, country, sender, node)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index total_step_at on total_step (minutes, at);

-- Ended verifications by when they started: by five minutes, after some hours by the hour, after a day by day (UTC).
create table verification_step (
  application_id uuid not null,
  at timestamptz not null,
  -- The length of the step: 5, 60 or 1440.
  minutes smallint not null,
  -- Empty if no carrier took a text of it, or more than one did.
  carrier text not null,
  country text not null,
  sender text not null,
  verifications integer not null,
  approved integer not null,
  primary key (application_id, at, minutes, carrier, country, sender)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index verification_step_at on verification_step (minutes, at);
