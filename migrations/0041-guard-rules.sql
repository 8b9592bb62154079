-- The guard's rules that a file of declared configuration sets. Every version stays; the newest counts.
create table guard_rules (
  version integer primary key,
  -- Only what is set: the settings have the rest.
  rules jsonb not null,
  created_at timestamptz not null,
  created_by text not null
);
