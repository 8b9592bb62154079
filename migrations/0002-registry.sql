-- Accounts and their members, applications, registrations and credentials.

-- An account owns applications. Its members are people, each with a role.
create table account (
  id text primary key,
  -- Tells the accounts of a person apart.
  name text not null,
  created_at timestamptz not null,
  -- Set by an operator: its credentials and sessions open nothing.
  disabled_at timestamptz,
  -- Why; its members read it.
  disabled_reason text
);

create table person (
  id text primary key,
  -- Normalised by the portal, so that equality is enough.
  email text not null unique,
  -- Null until a one-time link sets it, for a person created on the machine.
  password_hash text,
  operator boolean not null default false,
  -- The account that the person's next session acts for.
  last_account_id text references account on delete set null,
  created_at timestamptz not null
);
create index person_last_account on person (last_account_id);

create table member (
  account_id text not null references account on delete cascade,
  person_id text not null references person on delete cascade,
  role text not null check (role in ('owner', 'developer', 'viewer')),
  joined_at timestamptz not null,
  primary key (account_id, person_id)
);
create index member_person on member (person_id, joined_at);

create table session (
  -- A keyed hash of the cookie: a copy of this table does not open a session.
  hash bytea primary key,
  person_id text not null references person on delete cascade,
  -- The account that the person acts for. The session is valid while the person is its member.
  account_id text not null references account on delete cascade,
  -- Where the person signed in from; shown in the list of sessions.
  address text not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null
);
create index session_person on session (person_id);
create index session_account on session (account_id);
create index session_expires on session (expires_at);

create table one_time_link (
  hash bytea primary key,
  person_id text not null references person on delete cascade,
  makes_operator boolean not null,
  removes_second_factor boolean not null,
  expires_at timestamptz not null
);
create index one_time_link_person on one_time_link (person_id);
create index one_time_link_expires on one_time_link (expires_at);

create table invitation (
  id text primary key,
  account_id text not null references account on delete cascade,
  email text not null,
  role text not null check (role in ('owner', 'developer', 'viewer')),
  -- A keyed hash of the last part of the link.
  hash bytea not null unique,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index invitation_account on invitation (account_id, id);
create index invitation_expires on invitation (expires_at);

create table second_factor (
  person_id text primary key references person on delete cascade,
  -- Sealed by the key ring.
  secret bytea not null,
  -- Null until a first right code shows that the person's device has the secret.
  confirmed_at timestamptz,
  -- The newest 30-second step whose code was used: a code counts once.
  last_step bigint not null,
  created_at timestamptz not null
);

create table recovery_code (
  person_id text not null references person on delete cascade,
  hash bytea not null,
  primary key (person_id, hash)
);

-- Failed sign-ins, by a keyed hash of the person, or of person and address together.
create table sign_in_throttle (
  subject bytea primary key,
  failures integer not null,
  last_failed_at timestamptz not null,
  blocked_until timestamptz not null
);
create index sign_in_throttle_last on sign_in_throttle (last_failed_at);

-- Addresses that a person signed in from before. A flood of failures from elsewhere does not lock them out.
create table known_address (
  person_id text not null references person on delete cascade,
  address_hash bytea not null,
  seen_at timestamptz not null,
  primary key (person_id, address_hash)
);
create index known_address_seen on known_address (seen_at);

create table application (
  id text primary key,
  account_id text not null references account on delete cascade,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Whether an operator allows it to send texts of high priority.
  high_priority boolean not null default false
);
create index application_account on application (account_id, id);

create table registration (
  id text primary key,
  application_id text not null references application on delete cascade,
  api text not null check (api in ('sms', 'verify', 'messaging')),
  plan text not null,
  status text not null check (status in ('approved', 'pending', 'rejected')),
  -- Production: the requested plan, while the old one still applies.
  requested_plan text,
  -- Why an operator rejected the registration or the last change of plan, until the next request.
  reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (application_id, api)
);
create index registration_waiting on registration (id) where status = 'pending' or requested_plan is not null;

create table api_key (
  id text primary key,
  application_id text not null references application on delete cascade,
  -- What its owner calls it; null for a key without a name.
  name text,
  -- A keyed hash, under the ring version that was in use when the key was made.
  hash bytea not null unique,
  prefix text not null,
  last_four text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  -- Since a backup was restored: it opens nothing until its owner or an operator enables it.
  suspended_at timestamptz
);
create index api_key_application on api_key (application_id, id);

create table oauth_client (
  id text primary key,
  application_id text not null unique references application on delete cascade,
  -- Every token carries this version and must equal it: raising it ends all tokens of this client.
  credential_version integer not null default 1
);

create table client_secret (
  id text primary key,
  client_id text not null references oauth_client on delete cascade,
  -- A keyed hash; `ring_version` names the key that made it.
  hash bytea not null,
  ring_version integer not null,
  last_four text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  -- Since a backup was restored: it opens nothing until its owner or an operator enables it.
  suspended_at timestamptz
);
create index client_secret_client on client_secret (client_id, id);

-- The change feed. Nodes cache what they look up, and drop what is listed here.
create table registry_change (
  seq bigint primary key,
  application_id text not null,
  changed_at timestamptz not null
);
create sequence registry_change_seq;
create index registry_change_at on registry_change (changed_at);

create table node (
  id text primary key,
  acknowledged_seq bigint not null,
  seen_at timestamptz not null
);

-- Call this last in the transaction of the change. The lock is held until commit, so changes become visible in the
-- order of seq: a reader that has seen seq n never finds a lower one later.
create function record_registry_change(application_id text, changed_at timestamptz) returns bigint
language plpgsql as $$
declare
  new_seq bigint;
begin
  perform pg_advisory_xact_lock(4207004);
  new_seq := nextval('registry_change_seq');
  insert into registry_change values (new_seq, application_id, changed_at);
  perform pg_notify('heliograph_registry', new_seq::text);
  return new_seq;
end $$;
