-- Random keys from which the service derives every hash and code. The master secret wraps each of them.
create table key_ring (
  version integer primary key,
  salt bytea not null,
  wrapped bytea not null,
  -- New rows use the newest version whose time has come. Every node reads a version well before that.
  used_from timestamptz not null
);
