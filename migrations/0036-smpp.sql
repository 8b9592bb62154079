-- Others send through us by SMPP: their accounts, their binds now, parts of long texts, and what waits for them.

create table smpp_account (
  id uuid primary key,
  application_id text not null references application on delete cascade,
  -- The same as texts from phones have it.
  application_uuid uuid not null,
  system_id text not null unique,
  -- How many binds it may have at a time.
  binds smallint not null,
  -- Where it may bind from, as CIDRs; empty for anywhere.
  addresses text[] not null,
  created_at timestamptz not null
);
create index smpp_account_application on smpp_account (application_id, id);
create index smpp_account_inbound on smpp_account (application_uuid);

-- Keyed hashes. No backup holds them.
create table smpp_password (
  id uuid primary key,
  account_id uuid not null references smpp_account on delete cascade,
  hash bytea not null,
  created_at timestamptz not null,
  -- Null until another password follows.
  ends_at timestamptz
);
create index smpp_password_account on smpp_password (account_id, id);

-- Processes that have binds now.
create table smpp_listener (
  id uuid primary key,
  -- By the clock of the database: binds of one that was not seen lately do not count.
  seen_at timestamptz not null
);

create table smpp_bind (
  id uuid primary key,
  listener_id uuid not null references smpp_listener on delete cascade,
  account_id uuid not null references smpp_account on delete cascade,
  mode smallint not null,
  address text not null,
  tls boolean not null,
  bound_at timestamptz not null,
  -- As its process last wrote them.
  submits bigint not null default 0,
  throttled bigint not null default 0,
  refused bigint not null default 0,
  delivered bigint not null default 0,
  per_minute integer not null default 0,
  -- An operator wants it to end.
  ending boolean not null default false
);
create index smpp_bind_account on smpp_bind (account_id);
create index smpp_bind_listener on smpp_bind (listener_id);

-- What was refused lately, for the developer. It holds nothing that the peer wrote.
create table smpp_problem (
  id uuid primary key,
  account_id uuid not null references smpp_account on delete cascade,
  at timestamptz not null,
  command text not null,
  status integer not null,
  why text not null
);
create index smpp_problem_account on smpp_problem (account_id, id);

-- Parts of long texts, each answered with its own id.
create table smpp_part (
  id uuid primary key,
  application_id uuid not null,
  account_id uuid not null,
  -- Keyed: source, destination, reference and total.
  text_hash bytea not null,
  number smallint not null,
  total smallint not null,
  -- Of its octets: a part that comes again gets the id that it has.
  digest bytea not null,
  -- As its PDU had it; null once the text is joined or given up.
  body jsonb,
  created_at timestamptz not null,
  -- The message; set when the text is complete, before the message is written.
  message_id uuid
);
-- Texts that wait for parts, and texts that may have to be given up.
create index smpp_part_waiting on smpp_part (account_id, text_hash, number) where body is not null;
create index smpp_part_open on smpp_part (created_at) where body is not null;
create index smpp_part_age on smpp_part (created_at);
create index smpp_part_lately on smpp_part (text_hash, number, created_at);

-- Receipts and texts from phones, until a receiver has acknowledged them.
create table smpp_delivery (
  id bigint generated always as identity primary key,
  -- The account that gets it, or the application whose accounts share it.
  owner uuid not null,
  application_id uuid not null,
  -- Receipt of a text, text from a phone, receipt of a part without a text, test.
  kind smallint not null,
  -- The message, the text from a phone, or the part.
  subject uuid not null,
  -- The part of the message that it is about.
  part_id uuid,
  status smallint,
  error_code smallint,
  -- What no record holds.
  detail jsonb,
  created_at timestamptz not null,
  due_at timestamptz not null,
  attempts smallint not null default 0,
  -- By the clock of the database: until then one process has it.
  leased_until timestamptz
);
create index smpp_delivery_due on smpp_delivery (owner, due_at, id);
create index smpp_delivery_subject on smpp_delivery (subject, id);
create index smpp_delivery_age on smpp_delivery (created_at);
