-- One-time codes. The code itself is nowhere: it derives from the id and the ring version named here.

create table verification (
  id text primary key,
  application_id text not null,
  channel text not null,
  -- Masked after the retention time.
  recipient text not null,
  -- The number without its last four digits: what the guard counts neighbours by.
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
  approved_at timestamptz
) with (fillfactor = 85);

-- One at a time for an application and a number.
create unique index verification_pending on verification (application_id, recipient) where status = 'pending';
-- Lists and the guard's counters: ids sort by age, so "since" is a range of ids.
create index verification_list on verification (application_id, id);
create index verification_recipient on verification (application_id, recipient, id);
create index verification_prefix on verification (application_id, prefix, id) where status <> 'blocked';
create index verification_status on verification (application_id, status, id);
create index verification_reference on verification (application_id, reference, id) where reference is not null;
