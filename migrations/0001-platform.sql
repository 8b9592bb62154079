-- What every part uses: the key ring, stored answers, the progress of chores.

-- Random keys from which the service derives every hash and code. The master secret wraps each of them.
create table key_ring (
  version integer primary key,
  salt bytea not null,
  wrapped bytea not null,
  -- New rows use the newest version whose time has come. Every node reads a version well before that.
  used_from timestamptz not null
);

-- Stored responses, repeated for the same Idempotency-Key.
create table idempotency (
  -- Keyed hashes: one of application, method, path and key; one of the payload.
  hash bytea primary key,
  payload_hash bytea not null,
  -- The request that made it, so that a batch that runs twice recognises its own row.
  correlation_id text not null,
  status smallint not null,
  -- Encrypted under the key ring: a response may contain a number, a text or a proof.
  sealed_body bytea not null,
  location text,
  expires_at timestamptz not null
);
create index idempotency_expires on idempotency (expires_at);

-- How far a chore has gone through the messages or verifications. Ids sort by age, so one id is enough.
create table walk (
  name text primary key,
  done_before uuid not null
);
