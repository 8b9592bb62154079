-- The guard by conversion, narrower (docs/decisions/0024): who asked for a code, as keyed hashes, and who ended a hold.

-- What an application told of the person behind a start. Deleted after a day.
create table start_client (
  verification_id uuid primary key,
  -- Groups such as address:3f…, the smallest first.
  clients text[] not null
) with (
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000
);

-- Numbers that were held back and got no code count too; prefix is all but the last four digits. A number that came through a
-- client that is held back is set apart by it.
alter table conversion_number add column held boolean not null default false,
  add column prefix text collate "C" not null default '', add column clients text[], add column apart text;
create index conversion_number_client on conversion_number using gin (clients) where clients is not null;

alter table conversion_sum add column held integer not null default 0;
create index conversion_sum_client on conversion_sum (at) where scope like '%:%';

-- When one of its members ended a hold: one a day.
alter table conversion_application add column member_ended_at timestamptz;
alter table guard_hold add column ended_by_member boolean not null default false;
