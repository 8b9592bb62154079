-- Webhooks: where applications want to be told of their events, and what became of it.
--
-- Numbers such as `types` stand for names; src/events has the lists.

create table webhook (
  id uuid primary key,
  application_id text not null references application on delete cascade,
  -- The same id as events have it.
  listener_id uuid not null,
  url text not null,
  -- Empty: all types.
  types smallint[] not null default '{}',
  description text,
  -- `deleting`: the owner has deleted it, and an attempt may still be under way.
  status text not null check (status in ('active', 'paused', 'disabled', 'deleting')),
  disabled_reason text check (disabled_reason in ('gone', 'no_success')),
  disabled_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index webhook_application on webhook (application_id, id);
create index webhook_listener on webhook (listener_id);
create index webhook_deleting on webhook (id) where status = 'deleting';

-- What signs the calls of a webhook. During an overlap there are several.
create table webhook_secret (
  id uuid primary key,
  webhook_id uuid not null references webhook on delete cascade,
  -- By the key ring; the id of the webhook is part of it.
  sealed bytea not null,
  created_at timestamptz not null,
  -- Null: until another one takes its place.
  ends_at timestamptz
);
create index webhook_secret_webhook on webhook_secret (webhook_id, id);

-- How far a webhook has come. One worker at a time holds it: the one whose claim it is.
create table webhook_course (
  webhook_id uuid primary key references webhook on delete cascade,
  listener_id uuid not null,
  -- Every event up to here has a row in webhook_delivery, or is not wanted.
  position bigint not null,
  -- Grows with every claim, so that a worker that lost its lease records nothing.
  claim bigint not null default 0,
  leased_until timestamptz,
  -- The webhook was changed: the worker that holds it must give it back and cannot renew its lease.
  asked_back boolean not null default false,
  -- When the first waiting delivery is due. Early is fine.
  due_at timestamptz,
  -- Grows with every request that makes a delivery due, so that a worker that gives the course back overlooks none.
  calls integer not null default 0,
  -- Attempts that have failed since the last success, and until when no new event is tried therefore.
  failures integer not null default 0,
  rests_until timestamptz,
  -- The first failure since the last success.
  failing_since timestamptz,
  last_success_at timestamptz
);

create index webhook_course_listener on webhook_course (listener_id);
create index webhook_course_due on webhook_course (due_at) where due_at is not null;

-- One event for one webhook. The row is written after the first attempt.
create table webhook_delivery (
  webhook_id uuid not null,
  position bigint not null,
  status smallint not null,
  -- Of the current schedule: a replay begins anew.
  attempt_count smallint not null,
  -- The newest ones: time, status code, milliseconds, error.
  attempts jsonb not null default '[]',
  -- Null unless it waits.
  next_attempt_at timestamptz,
  primary key (webhook_id, position)
) partition by range (position);

-- Deliveries of a day for which there is no partition (yet).
create table webhook_delivery_default partition of webhook_delivery default;
-- No statistics, for the same reason as event_default.
alter table webhook_delivery_default alter column webhook_id set statistics 0, alter column position set statistics 0;
create index webhook_delivery_due on webhook_delivery (webhook_id, next_attempt_at) where next_attempt_at is not null;

-- Spans of events that are to be told again. The worker turns them into deliveries, some at a time.
create table webhook_replay (
  id uuid primary key,
  webhook_id uuid not null references webhook on delete cascade,
  -- How far it has come, and where it ends.
  position bigint not null,
  up_to bigint not null,
  since timestamptz not null,
  until timestamptz not null,
  types smallint[] not null default '{}',
  created_at timestamptz not null
);
create index webhook_replay_webhook on webhook_replay (webhook_id, id);
