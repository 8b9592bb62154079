-- Random keys from which every hash and derived code comes, each wrapped by the master secret.
create table key_ring (
  version integer primary key,
  salt bytea not null,
  wrapped bytea not null,
  created_at timestamptz not null
);
