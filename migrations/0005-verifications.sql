-- One-time codes. No code is stored: it derives from the id and the ring version in the row.

create table verification (
  id text primary key,
  application_id text not null,
  channel text not null,
  -- Masked after the retention time.
  recipient text not null,
  -- The number without its last four digits. The guard counts neighbouring numbers by it.
  prefix text not null,
  status text not null check (status in ('pending', 'approved', 'failed', 'expired', 'canceled', 'blocked')),
  reason text,
  code_length smallint not null,
  ring_version integer not null,
  test_number boolean not null,
  attempts smallint not null default 0,
  max_attempts smallint not null,
  sends smallint not null,
  reference text,
  correlation_id text not null,
  sequence integer not null default 1,
  resend_available_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  approved_at timestamptz,
  -- The lifetime while it is pending, else null. Among pending ones with the same lifetime, ids sort by expiry.
  open_seconds integer generated always as (
    case when status = 'pending' then extract(epoch from expires_at - created_at)::integer end) stored,
  -- When it lapses, if it is pending, else null.
  lapses_at timestamptz generated always as (case when status = 'pending' then expires_at end) stored,
  -- False while pending, so a wrong code changes no indexed column, which makes a check cheap.
  has_failures boolean not null generated always as (status <> 'pending' and attempts > 0) stored
) with (
  -- Rows leave the indexes of pending verifications within minutes: vacuum early, so that these indexes stay small.
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, fillfactor = 85
);

-- Postgres should have little choice among these indexes: without statistics on their columns, a wrong one can look as
-- cheap as the right one, and a start then reads all of an application's rows. So lookups by number or prefix have a key
-- of their own, an expression that no other index starts with, and indexes of pending rows have different conditions.

-- One pending verification per application and number.
create unique index verification_pending on verification ((application_id || ' ' || recipient)) where status = 'pending';
-- Lists and the guard's counts. Ids sort by age, so "since" is a range of ids.
create index verification_list on verification (application_id, id);
create index verification_recipient on verification ((application_id || ' ' || recipient), status, id);
create index verification_prefix on verification ((application_id || ' ' || prefix), id) where status <> 'blocked';
create index verification_status on verification (application_id, status, id) where status <> 'pending';
create index verification_reference on verification (application_id, reference, id) where reference is not null;
-- Pending verifications, live or past their expiry, without reading the other kind.
create index verification_open on verification (application_id, open_seconds, id) where open_seconds is not null;
-- Verifications that the background chore must expire next.
create index verification_expires on verification (lapses_at) where lapses_at is not null;
-- A number's wrong codes of the day: at most fifteen rows, however many verifications it had.
create index verification_failures on verification ((application_id || ' ' || recipient), id) where has_failures;
-- No statistics on these columns, as for messages: if Postgres knew that most rows are one number's, it would read all
-- of an application's rows by age.
alter table verification alter column id set statistics 0, alter column application_id set statistics 0,
  alter column recipient set statistics 0, alter column prefix set statistics 0, alter column status set statistics 0,
  alter column reference set statistics 0, alter column open_seconds set statistics 0,
  alter column has_failures set statistics 0;
alter index verification_pending alter column 1 set statistics 0;
alter index verification_recipient alter column 1 set statistics 0;
alter index verification_prefix alter column 1 set statistics 0;
alter index verification_failures alter column 1 set statistics 0;
