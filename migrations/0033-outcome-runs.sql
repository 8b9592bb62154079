-- How long a carrier has given the same answer, so that an alert need not wait until better answers are long past.
alter table carrier_outcome
  -- Of the total, those since the last answer that ends the run, and the codes among them.
  add column run integer not null default 0,
  add column run_codes integer not null default 0,
  -- When the run began, and when the last answer came. Null: a node of an earlier version wrote the row.
  add column run_since timestamptz,
  add column last_at timestamptz;
