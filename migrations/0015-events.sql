-- Events: the changes of records, for applications that listen.
--
-- Numbers such as `type` stand for names; src/events/event.ts has the lists.

-- Who listens. A change writes its event by the statement that makes it, if the application has a row here.
create table event_listener (
  application_id uuid primary key,
  -- Every change since this position has its event.
  since bigint not null,
  -- False until no statement runs any more that began before this row was there.
  begun boolean not null default false,
  -- Null if the feed was never read.
  feed_read_at timestamptz
);

-- Positions order the events: those of one record in the order of its changes. The upper bits are a day
-- (src/events/position.ts), so a day is a partition.
create sequence event_position as bigint;

create table event (
  position bigint not null default nextval('event_position'),
  application_id uuid not null,
  -- The record that changed.
  subject uuid not null,
  time timestamptz not null,
  -- Counts the events of the record.
  sequence smallint not null,
  type smallint not null,
  api smallint not null,
  -- What the record does not tell later: why a text failed.
  error_code smallint,
  -- The record itself, where it may be gone before its event is read.
  data jsonb,
  primary key (application_id, position)
) partition by range (position);

-- Events of a day for which there is no partition (yet).
create table event_default partition of event default;
-- No statistics: if Postgres knew that most events are one application's, it would read all of a day to find another's.
alter table event_default alter column application_id set statistics 0, alter column position set statistics 0;
-- The events of one record, for its story.
create index event_subject on event (subject);
-- Which applications have new events. It costs next to nothing to keep: rows are added in this order, but for a few.
create index event_order on event using brin (position) with (pages_per_range = 32, autosummarize = on);
-- The numbers in `data`, to forget them.
create index event_number on event ((data ->> 'number')) where data is not null;
-- The same after the retention time.
create index event_data_time on event (time) where data is not null;
