-- Usage, and traces of the latest requests. Messages and verifications are counted by their owners.

create table usage_minute (
  registration_id text not null,
  minute timestamptz not null,
  -- The process that counted. A restarted node counts under a new name, so values only rise, and writing one twice
  -- changes nothing. Empty for hourly sums.
  boot text not null,
  application_id text not null,
  api text not null,
  admitted integer not null,
  refused integer not null,
  -- The limit that applied then: requests a minute, the highest of the time that the row counts.
  per_minute integer not null,
  primary key (registration_id, minute, boot)
);
create index usage_minute_application on usage_minute (application_id, minute);
create index usage_minute_age on usage_minute (minute) where boot <> '';

-- The newest requests of each application, for a day. What a request created is kept in its own table.
create table request_trace (
  id text not null,
  application_id text not null,
  api text not null,
  method text not null,
  path text,
  status smallint not null,
  code text,
  message text,
  details jsonb not null,
  duration_ms real not null,
  admitted boolean not null,
  limit_per_minute integer not null,
  remaining integer not null,
  retry_after_seconds integer,
  refused_by text,
  record_id text,
  -- By application first: what is deleted of one lies together, so that its pages are free again. An index by time alone
  -- would keep a page for each request of a quiet application among thousands of a busy one.
  primary key (application_id, id)
);
