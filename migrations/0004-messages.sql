-- Messages: the record of each, as the API shows it.
--
-- Ids are uuids here: a public id such as `msg_01jcq…` is an encoding of the same 16 bytes, and begins with its time.
-- Numbers such as `status` stand for names; src/messages/message.ts has the lists.

-- The record of a message. It changes only when a caller can see the difference, and no index has a column that
-- delivery changes, so that Postgres updates it in place (HOT).
create table message (
  id uuid not null,
  application_id uuid not null,
  correlation_id uuid not null,
  -- For the text of a verification.
  verification_id uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  -- When the caller wanted it sent, if later than at once.
  send_at timestamptz,
  -- Outside the hours of its route: when they begin.
  deferred_until timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz,
  -- Counts its events, also those that were not written because its application did not listen.
  sequence smallint not null default 0,
  -- Of the submit that the carrier accepted, and how often it was sent again while it was unknown whether it had arrived.
  attempt integer not null default 0,
  characters integer not null,
  -- The version of the table that chose its carrier; null with an empty one.
  route_version integer,
  -- The API it was sent through: SMS, Messaging, or Verification for the text of a verification.
  api smallint not null,
  channel smallint not null,
  status smallint not null,
  error_code smallint,
  encoding smallint not null,
  segment_count smallint not null,
  remaining smallint not null,
  -- The place of the route in that version.
  route_rule smallint,
  possible_duplicates smallint not null default 0,
  -- The first or the bulk lane: its entry in the queue is found by it.
  lane smallint not null default 1,
  carrier text not null,
  -- Masked after the retention time, when the body becomes null. A verification's text is never stored.
  recipient text not null,
  sender text not null,
  -- The sender that the route put in place of it.
  sent_as text,
  body text,
  -- What a verification's text is rendered from when it is sent; never the code.
  template jsonb,
  -- What the choice of the carrier was given besides: carriers that could not send, or were used before.
  route_given jsonb,
  reference text,
  carrier_message_id text,
  primary key (id)
) partition by range (id);

-- Lists, newest first, one index for each filter. Texts of verifications are found by their verification.
create index message_list on message (application_id, api, id);
create index message_recipient on message (application_id, api, recipient, id) where verification_id is null;
create index message_reference on message (application_id, api, reference, id) where reference is not null;

-- Messages of a time for which there is no partition (yet). All partitions have its settings: a page has room for each row
-- twice, so that results are written in place.
create table message_default partition of message default with (fillfactor = 45);
-- No statistics on the columns that lists filter by. If Postgres knew that most messages are one application's, it would
-- read all messages by age, and find none when that application was quiet for a month.
alter table message_default alter column id set statistics 0, alter column application_id set statistics 0,
  alter column api set statistics 0, alter column recipient set statistics 0, alter column reference set statistics 0;

-- Messages that did not end well: lists by such a status read this table.
create table message_end (
  application_id uuid not null,
  api smallint not null,
  status smallint not null,
  message_id uuid not null,
  primary key (application_id, api, status, message_id)
);
create index message_end_age on message_end (message_id);

-- How many messages there are, for usage. Walks over the records add them up (src/platform/record-sums.ts).
create table message_sum (
  application_id uuid not null,
  -- Each message counts in its minute and in its hour: a span of a year reads hours only.
  by_hour boolean not null,
  at timestamptz not null,
  -- The walk that counted them: a later one counts anew, because statuses change.
  pass smallint not null,
  api smallint not null,
  status smallint not null,
  count integer not null,
  segments integer not null,
  primary key (application_id, by_hour, at, pass, api, status)
) with (
  -- A row grows with each piece of its minute or hour, in place.
  fillfactor = 70
);
-- What a chore deletes.
create index message_sum_age on message_sum (by_hour, pass, at);
alter table message_sum alter column application_id set statistics 0;

-- Messages that could not be masked when the walk passed them, because they were not sent yet.
create table unmasked_message (
  message_id uuid primary key
);
