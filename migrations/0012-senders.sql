-- What an application may send as, the texts of its codes by country, and how much it may send in a day.

create table sender (
  id text primary key,
  application_id text not null references application on delete cascade,
  -- As the developer wrote it.
  sender text not null,
  -- ISO codes; empty for every country.
  countries text[] not null,
  status text not null check (status in ('pending', 'approved', 'rejected')),
  -- The names of the carriers that know it; empty for all of them.
  carriers text[] not null default '{}',
  -- What the carrier or a country's authority calls it.
  registration text,
  -- Texts a second, over all carriers and nodes; null for no limit of its own.
  per_second integer,
  -- Why an operator rejected it.
  reason text,
  created_at timestamptz not null,
  decided_at timestamptz
);
create index sender_application on sender (application_id, id);
create index sender_status on sender (status, id);
-- Workers read the limited ones every two seconds.
create index sender_limited on sender (id) where per_second is not null and status = 'approved';

create table verification_template (
  application_id text not null references application on delete cascade,
  country text not null,
  text text not null,
  -- What carriers call the text, where it must be registered.
  template_id text,
  updated_at timestamptz not null,
  primary key (application_id, country)
);

-- Null for the number of its plan.
alter table application add column segments_per_day integer;

-- Segments that applications with a limit have had accepted, by day (UTC).
create table spend_day (
  application_id uuid not null,
  day date not null,
  segments integer not null,
  -- The limit when it last counted.
  most integer not null,
  -- The highest of 50, 80 and 100 percent that was reached.
  alerted smallint not null default 0,
  primary key (application_id, day)
) with (fillfactor = 50);
create index spend_day_day on spend_day (day);

-- The texts that a limited sender may send now, as they were at a time. Texts of the first lane may borrow.
create table sender_pace (
  application_id uuid not null,
  sender text not null,
  tokens double precision not null,
  counted_at timestamptz not null,
  primary key (application_id, sender)
) with (fillfactor = 50);
