-- Messages, the queue that delivers them, receipts, stored answers and the sandbox's phones.
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
  sent_at timestamptz,
  delivered_at timestamptz,
  -- Rises by one with every change that an event will report.
  sequence integer not null default 1,
  -- Of the submit that the carrier accepted, and how often it was sent again while it was unknown whether it had arrived.
  attempt integer not null default 0,
  characters integer not null,
  -- The API it was sent through: SMS, Messaging, or Verification for the text of a verification.
  api smallint not null,
  channel smallint not null,
  status smallint not null,
  error_code smallint,
  encoding smallint not null,
  segment_count smallint not null,
  remaining smallint not null,
  possible_duplicates smallint not null default 0,
  carrier text not null,
  -- Masked after the retention time, when the body becomes null. A verification's text is never stored.
  recipient text not null,
  sender text not null,
  body text,
  -- What a verification's text is rendered from when it is sent; never the code.
  template jsonb,
  reference text,
  carrier_message_id text,
  primary key (id)
) partition by range (id);

-- Lists, newest first, one index for each filter. Texts of verifications are found by their verification.
create index message_list on message (application_id, api, id);
create index message_recipient on message (application_id, api, recipient, id) where verification_id is null;
create index message_reference on message (application_id, api, reference, id) where reference is not null;

-- Messages of a time for which there is no partition (yet).
create table message_default partition of message default with (fillfactor = 60);
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

-- The queue: what may be sent now. One queue per carrier and lane: verifications go first, and applications take turns.
create table delivery_queue (
  carrier text not null,
  lane smallint not null,
  application_id uuid not null,
  message_id uuid not null,
  -- Every submit raises it. A result names its attempt, so a late result changes nothing.
  attempt integer not null default 0,
  -- Submits that the carrier did not answer.
  unanswered smallint not null default 0,
  possible_duplicates smallint not null default 0,
  -- True if an earlier submit may have arrived.
  in_doubt boolean not null default false,
  primary key (carrier, lane, application_id, message_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 1000000);

-- What is sent later: scheduled texts, and texts to be tried again.
create table delivery_schedule (
  carrier text not null,
  lane smallint not null,
  application_id uuid not null,
  message_id uuid not null,
  attempt integer not null default 0,
  unanswered smallint not null default 0,
  possible_duplicates smallint not null default 0,
  in_doubt boolean not null default false,
  due_at timestamptz not null,
  primary key (application_id, message_id)
) with (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 5000);
create index delivery_schedule_due on delivery_schedule (carrier, due_at);

-- What a worker has taken from the queue, one row for each batch: written before the carrier gets the texts, deleted
-- with their results. A row whose lease has run out names the texts that a dead worker may have sent.
create table delivery_claim (
  id bigint generated always as identity primary key,
  carrier text not null,
  claimed_at timestamptz not null,
  leased_until timestamptz not null,
  lanes smallint[] not null,
  application_ids uuid[] not null,
  message_ids uuid[] not null,
  attempts integer[] not null,
  unanswered smallint[] not null,
  possible_duplicates smallint[] not null,
  in_doubt boolean[] not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table delivery_claim alter column application_ids set storage external,
  alter column message_ids set storage external;

-- The carrier's own ids of sent texts, for carriers that do not repeat ours in a receipt. Kept as long as receipts come.
create table sent_text (
  carrier text not null,
  carrier_message_id text not null,
  message_id uuid not null,
  sent_at timestamptz not null,
  primary key (carrier, carrier_message_id, message_id)
);
create index sent_text_age on sent_text (sent_at);

-- Texts that were not settled when the look at old texts passed them: scheduled far ahead, or sent late.
create table unsettled_text (
  message_id uuid primary key,
  look_at timestamptz not null
);
create index unsettled_text_look on unsettled_text (look_at);

-- Receipts that arrived before the carrier's response was written, or that match no message.
create table unmatched_receipt (
  id bigint generated always as identity primary key,
  carrier text not null,
  carrier_message_id text not null,
  -- Our id, if the carrier has repeated it.
  message_id uuid,
  outcome smallint not null,
  error_code smallint,
  received_at timestamptz not null,
  -- When to look for its message again: less and less often, so that receipts without a message cost little.
  retry_at timestamptz not null
);
create unique index unmatched_receipt_id on unmatched_receipt (carrier, carrier_message_id, outcome, message_id)
  nulls not distinct;
create index unmatched_receipt_retry on unmatched_receipt (retry_at);

-- How far a chore has gone through the messages or verifications. Ids sort by age, so one id is enough.
create table walk (
  name text primary key,
  done_before uuid not null
);

-- Messages that could not be masked when the walk passed them, because they were not sent yet.
create table unmasked_message (
  message_id uuid primary key
);

-- Stored responses, repeated for the same Idempotency-Key.
create table idempotency (
  -- Keyed hashes: one of application, method, path and key; one of the payload.
  hash bytea primary key,
  payload_hash bytea not null,
  -- The request that made it, so that a batch that runs twice recognises its own row.
  correlation_id text not null,
  status smallint not null,
  -- Encrypted under the key ring: a response may contain a number, a text or a proof.
  sealed_body bytea not null,
  location text,
  expires_at timestamptz not null
);
create index idempotency_expires on idempotency (expires_at);

-- The sandbox's phones: which submit arrived when. The text is rendered when it is read, so no row holds a code.
create table handset_text (
  id bigint generated always as identity primary key,
  application_id uuid not null,
  message_id uuid not null,
  received_at timestamptz not null,
  attempt integer not null,
  -- Whether it reached the phone; the network says so in its receipt.
  delivered boolean not null,
  recipient text not null
);
create index handset_text_inbox on handset_text (application_id, id);
create index handset_text_number on handset_text (application_id, recipient, id);

-- Arrivals long after the message was accepted. Retention deletes arrivals in their order, and finds these by message.
create table handset_delayed_text (
  message_id uuid not null,
  handset_text_id bigint not null,
  primary key (message_id, handset_text_id)
);

-- Receipts that the sandbox's network sends later than the others.
create table handset_late_receipt (
  handset_text_id bigint primary key,
  message_id uuid not null,
  attempt integer not null,
  delivered boolean not null,
  due_at timestamptz not null
);
create index handset_late_receipt_due on handset_late_receipt (due_at);

-- How far the network has sent its receipts: it sends them in the order of arrival.
create table handset_report (
  reported bigint not null
);
insert into handset_report values (0);
