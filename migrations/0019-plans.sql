-- Plans that operators change. Every version stays. A plan without a row has the numbers of the settings.
create table plan (
  name text not null,
  version integer not null,
  per_minute integer not null,
  burst integer not null,
  -- Null for no limit.
  segments_per_day integer,
  created_at timestamptz not null,
  -- The e-mail of the operator, as it was at that time.
  created_by text not null,
  primary key (name, version)
);
