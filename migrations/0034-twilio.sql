-- Twilio's shape: the tokens of applications, and where texts report their status.

-- A token derives from the ring, the application and the version, so that it can sign callbacks. No backup holds these.
create table twilio_token (
  application_id text not null references application on delete cascade,
  -- Random: a token that was deleted never comes back.
  version bigint not null,
  ring_version smallint not null,
  created_at timestamptz not null,
  -- Null until another token follows.
  ends_at timestamptz,
  primary key (application_id, version)
);

-- The address that a caller gave with a text.
alter table message add column status_callback text;

-- Changes of texts that have such an address, until it has answered.
create table status_call (
  application_id uuid not null,
  message_id uuid not null,
  -- That of the change.
  sequence integer not null,
  url text not null,
  status smallint not null,
  error_code smallint,
  attempts smallint not null default 0,
  due_at timestamptz not null,
  -- By the clock of the database: until then one worker has it.
  leased_until timestamptz,
  primary key (message_id, sequence)
);
create index status_call_due on status_call (application_id, due_at);
