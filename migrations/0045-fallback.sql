-- What follows while a code is not entered: a row for each verification that began with a fallback.
create table verification_fallback (
  verification_id uuid primary key,
  -- The text whose failure leads on before its time.
  awaited uuid,
  -- When the next step follows; null when nothing more is to come.
  due_at timestamptz,
  next_step smallint not null,
  -- The steps with the data of their texts (src/verify/fallback/plan.ts); no code is in it.
  plan jsonb not null,
  -- What became of the steps.
  taken jsonb not null default '[]'
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000
);
create index verification_fallback_due on verification_fallback (due_at) where due_at is not null;
