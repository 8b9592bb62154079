-- One-time codes. No code is stored: it derives from the id and the ring version in the row. An id is 16 bytes that begin
-- with its time (src/platform/ids.ts); names of statuses, reasons and channels are codes (src/verify/verification-row.ts).

-- The record. Weekly partitions are made ahead (src/platform/partitions.ts); the default one takes what has none.
create table verification (
  id uuid not null,
  application_id uuid not null,
  -- The request that started it.
  correlation_id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  resend_available_at timestamptz,
  approved_at timestamptz,
  ring_version integer not null,
  channel smallint not null,
  status smallint not null,
  reason smallint,
  code_length smallint not null,
  attempts smallint not null default 0,
  max_attempts smallint not null,
  sends smallint not null,
  test_number boolean not null,
  -- Masked after the retention time.
  recipient text collate "C" not null,
  reference text,
  -- Its texts, newest last.
  text_ids uuid[] not null,
  primary key (id)
) partition by range (id);
-- No index holds a column that a check, a resend or an end changes, and each page has room for the new version of a row:
-- so such a change writes no index entry.
create table verification_default partition of verification default with (
  fillfactor = 75, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000
);
create index verification_list on verification (application_id, id);
create index verification_reference on verification (application_id, reference, id) where reference is not null;

-- The verifications that are pending in the record: one per application and number. Rows come and go, none changes.
create table pending_verification (
  verification_id uuid not null,
  application_id uuid not null,
  expires_at timestamptz not null,
  -- Among pending ones with the same lifetime, ids sort by expiry.
  lifetime_seconds integer not null,
  recipient text collate "C" not null,
  constraint verification_pending primary key (recipient, application_id)
) with (
  -- Rows live for minutes: vacuum early, so that the indexes stay small.
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000
);
-- Lists: live or past their expiry, without reading the other kind.
create index pending_verification_list
  on pending_verification (uuid_hash(application_id), lifetime_seconds, verification_id);
-- Verifications that the background chore must expire next.
create index pending_verification_expires on pending_verification (expires_at);

-- The verifications that are not pending in the record, found by status and by number.
create table ended_verification (
  verification_id uuid not null,
  application_id uuid not null,
  status smallint not null,
  -- Masked with the record.
  recipient text collate "C" not null
) partition by range (verification_id);
create table ended_verification_default partition of ended_verification default;
create index ended_verification_default_status
  on ended_verification_default ((status + 0), application_id, verification_id);
create index ended_verification_status on ended_verification ((status + 0), application_id, verification_id);
create index ended_verification_number on ended_verification (recipient, application_id, status, verification_id);

-- The wrong codes of ended verifications that started in the last day. Those of a pending one are in its record.
create table recent_failure (
  verification_id uuid not null,
  application_id uuid not null,
  attempts smallint not null,
  recipient text collate "C" not null,
  primary key (recipient, application_id, verification_id)
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000
);
create index recent_failure_age on recent_failure (verification_id);

-- The starts of the last hour by prefix, the number without its last four digits. Written only if the guard limits them.
create table counted_start (
  application_id uuid not null,
  prefix text collate "C" not null,
  verification_id uuid not null,
  primary key (application_id, prefix, verification_id)
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000
);
create index counted_start_age on counted_start (verification_id);

-- How many verifications there are, for usage, like message_sum.
create table verification_sum (
  application_id uuid not null,
  by_hour boolean not null,
  at timestamptz not null,
  pass smallint not null,
  status smallint not null,
  count integer not null,
  primary key (application_id, by_hour, at, pass, status)
) with (fillfactor = 70);
create index verification_sum_age on verification_sum (by_hour, pass, at);
alter table verification_sum alter column application_id set statistics 0;

-- No statistics on the columns that lists filter by, as for messages: if Postgres knew that most rows are one
-- application's or one number's, it would read all rows by age, and find none when that application was quiet for a month.
-- Without statistics the wrong index can look as cheap as the right one, so Postgres should have no choice: indexes for
-- lists begin with an expression, which lists ask for and lookups by number do not.
-- A new partition takes these settings from the default one.
alter table verification_default alter column id set statistics 0, alter column application_id set statistics 0,
  alter column reference set statistics 0, alter column status set statistics 0;
alter table pending_verification alter column application_id set statistics 0,
  alter column verification_id set statistics 0, alter column recipient set statistics 0,
  alter column lifetime_seconds set statistics 0;
alter table ended_verification_default alter column application_id set statistics 0,
  alter column status set statistics 0, alter column verification_id set statistics 0,
  alter column recipient set statistics 0;
alter table recent_failure alter column application_id set statistics 0, alter column recipient set statistics 0,
  alter column verification_id set statistics 0;
alter table counted_start alter column application_id set statistics 0, alter column prefix set statistics 0,
  alter column verification_id set statistics 0;
alter index pending_verification_list alter column 1 set statistics 0;
alter index ended_verification_default_status alter column 1 set statistics 0;
