-- The answers of webhooks' endpoints, for developers who look for a mistake. A few per webhook and second are kept, for
-- 7 days. What was sent is rendered when it is read, so it is not here.
create table webhook_answer (
  webhook_id uuid not null,
  position bigint not null,
  -- When the attempt began: with it an attempt of webhook_delivery finds its answer.
  attempted_at timestamptz not null,
  -- A list of [name, value].
  headers jsonb not null,
  -- The first 2 kB.
  body bytea not null,
  -- Whether the body was longer.
  is_cut boolean not null,
  primary key (webhook_id, position, attempted_at)
);
create index webhook_answer_age on webhook_answer (attempted_at);
