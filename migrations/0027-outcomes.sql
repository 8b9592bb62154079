-- What became of texts, by carrier and country: refusals, ends, codes by themselves, and the time to the phone.

-- Constant defaults: Postgres rewrites nothing. The counts of a day are by text and carrier, as before.
alter table total_day
  -- Submits that the carrier refused for good, and submits that it could not take at that time.
  add column refused integer not null default 0,
  add column unavailable integer not null default 0,
  -- Texts that expired before a carrier had accepted them.
  add column expired integer not null default 0,
  -- Of these counts, those of codes. A failed code ended as failed, undelivered or expired.
  add column code_attempts integer not null default 0,
  add column code_sent integer not null default 0,
  add column code_refused integer not null default 0,
  add column code_delivered integer not null default 0,
  add column code_failed integer not null default 0,
  -- Delivered texts, and codes, by the time to their report; src/quality/arrival-times.ts has the bounds. Null: none.
  add column arrived integer[],
  add column code_arrived integer[];

alter table carrier_minute
  add column refused integer not null default 0,
  add column unavailable integer not null default 0,
  add column delivered integer not null default 0,
  add column undelivered integer not null default 0,
  add column failed integer not null default 0,
  add column expired integer not null default 0,
  add column code_attempts integer not null default 0,
  add column code_sent integer not null default 0,
  add column code_refused integer not null default 0,
  add column code_delivered integer not null default 0,
  add column code_failed integer not null default 0,
  add column arrived integer[],
  add column code_arrived integer[];

-- Answers and reports of the last two hours, in the minute in which they came: a text may have waited for hours before.
create table carrier_outcome (
  minute timestamptz not null,
  carrier text not null,
  country text not null,
  -- accepted, refused, unavailable, throttled, in_doubt, delivered or undelivered.
  outcome text not null,
  -- The error in the carrier's own words, like `0x45: submit failed`; empty without one.
  words text not null,
  node text not null,
  revision integer not null,
  total integer not null,
  -- Of these, the codes.
  codes integer not null,
  primary key (minute, carrier, country, outcome, words, node)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
