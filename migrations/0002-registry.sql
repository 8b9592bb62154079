-- Developers' accounts, their applications, registrations and credentials.

create table account (
  id text primary key,
  -- Normalised by the portal, so that equality is enough.
  email text not null unique,
  -- Null until a one-time link sets it, for an account created on the machine.
  password_hash text,
  operator boolean not null default false,
  created_at timestamptz not null
);

create table session (
  -- A keyed hash of the cookie: a copy of this table does not open a session.
  hash bytea primary key,
  account_id text not null references account on delete cascade,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null
);
create index session_account on session (account_id);
create index session_expires on session (expires_at);

create table one_time_link (
  hash bytea primary key,
  account_id text not null references account on delete cascade,
  makes_operator boolean not null,
  expires_at timestamptz not null
);
create index one_time_link_account on one_time_link (account_id);
create index one_time_link_expires on one_time_link (expires_at);

-- Failed sign-ins, by a keyed hash of the account, or of account and address together.
create table sign_in_throttle (
  subject bytea primary key,
  failures integer not null,
  last_failed_at timestamptz not null,
  blocked_until timestamptz not null
);
create index sign_in_throttle_last on sign_in_throttle (last_failed_at);

-- Addresses that signed in to an account before. A flood of failures from elsewhere does not lock them out.
create table known_address (
  account_id text not null references account on delete cascade,
  address_hash bytea not null,
  seen_at timestamptz not null,
  primary key (account_id, address_hash)
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
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (application_id, api)
);
create index registration_waiting on registration (id) where status = 'pending' or requested_plan is not null;

create table api_key (
  id text primary key,
  application_id text not null references application on delete cascade,
  -- A keyed hash, under the ring version that was in use when the key was made.
  hash bytea not null unique,
  prefix text not null,
  last_four text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz
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
  last_used_at timestamptz
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
