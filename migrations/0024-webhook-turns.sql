-- Webhooks take turns, by account and then by endpoint, and endpoints that answer quickly have a half for themselves.

-- When a worker last took it up. Null: never.
alter table webhook_course add column claimed_at timestamptz;
-- How long its endpoint takes to answer, as lately measured. Null: it was not called yet.
alter table webhook_course add column latency_ms integer;
