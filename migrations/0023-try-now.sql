-- An operator wants a carrier's workers to connect at once, without waiting for their next try.
alter table carrier add column try_wanted_at timestamptz;
