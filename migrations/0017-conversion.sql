-- The guard by conversion: how many numbers got a code and typed it in, and what is held back (docs/decisions/0024).

-- The numbers that got a code in the last day. A scope is a country (GB), a prefix (+4477001) or empty: the whole application.
create table conversion_number (
  application_id uuid not null,
  -- A keyed hash.
  number bytea not null,
  -- Of its newest code.
  hour timestamptz not null,
  approved boolean not null,
  primary key (application_id, number)
) with (
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000
);
create index conversion_number_age on conversion_number (hour);

-- How many numbers a scope had, by hour of their newest code, and later by day.
create table conversion_sum (
  application_id uuid not null,
  scope text collate "C" not null,
  by_day boolean not null,
  at timestamptz not null,
  numbers integer not null,
  approved integer not null,
  primary key (application_id, scope, by_day, at)
) with (
  fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000
);
create index conversion_sum_age on conversion_sum (by_day, at);
-- Prefixes with so few numbers say nothing later.
create index conversion_sum_small on conversion_sum (at) where by_day and numbers < 10 and scope like '+%';

create table conversion_application (
  application_id uuid primary key,
  -- When its first code was counted, and when the first one was approved.
  counted_since timestamptz not null,
  approved_since timestamptz
);

-- What is held back, or only reported. One for each application and scope that is not over.
create table guard_hold (
  id text primary key,
  application_id text not null,
  scope text not null,
  -- Of a prefix too; null for ranges of no country.
  country text,
  -- False: only reported.
  acts boolean not null,
  -- What was seen, and the share of approvals below which it is held.
  numbers integer not null,
  approved integer not null,
  least_share real not null,
  -- Starts that it held back.
  blocked integer not null default 0,
  began_at timestamptz not null,
  until timestamptz not null,
  ended_at timestamptz,
  -- The operator who ended it; null when its time was over.
  ended_by text
);
create unique index guard_hold_open on guard_hold (application_id, scope) where ended_at is null;
create index guard_hold_due on guard_hold (until) where ended_at is null;
create index guard_hold_ended on guard_hold (ended_at) where ended_at is not null;
create index guard_hold_recent on guard_hold (application_id, ended_at);
create index guard_hold_scope on guard_hold (application_id, scope, began_at);
