-- Delivery: what is to be sent, what a worker has taken, and what carriers have said about it.

-- The queue: what may be sent now. One queue per carrier and lane: verifications and texts of high priority go first, and
-- applications take turns.
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
  -- How often it went on to another carrier.
  moves smallint not null default 0,
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
  moves smallint not null default 0,
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
  in_doubt boolean[] not null,
  moves smallint[] not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table delivery_claim alter column application_ids set storage external,
  alter column message_ids set storage external;

-- What receipts call a sent text, or one part of it, for carriers that do not repeat our id. An account is a carrier at
-- one provider; its ids mean nothing to another one. Kept as long as receipts come.
create table sent_text (
  account text not null,
  receipt_key text not null,
  message_id uuid not null,
  -- 0 for a text of one part.
  part smallint not null default 0,
  sent_at timestamptz not null,
  primary key (account, receipt_key, message_id, part)
);
create index sent_text_age on sent_text (sent_at);

-- The parts of long texts that were submitted: what the carrier has is never sent again.
create table text_part (
  message_id uuid not null,
  part smallint not null,
  -- So many parts the text has, and so many must be delivered until the text is.
  total smallint not null,
  needed smallint not null,
  -- How the text was cut and written: its other parts must be like it.
  form text not null,
  in_doubt boolean not null,
  carrier_message_id text,
  -- From the part's receipt.
  outcome smallint,
  error_code smallint,
  primary key (message_id, part)
);

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
  account text not null,
  carrier_message_id text not null,
  -- What its text may be called in sent_text.
  keys text[] not null,
  -- The numbers that it names, in digits: the phone's, perhaps our sender's too.
  numbers text[] not null default '{}',
  -- Our id, if the carrier has repeated it.
  message_id uuid,
  outcome smallint not null,
  error_code smallint,
  received_at timestamptz not null,
  -- When to look for its message again: less and less often, so that receipts without a message cost little.
  retry_at timestamptz not null
);
create unique index unmatched_receipt_id on unmatched_receipt (account, carrier_message_id, outcome, message_id, numbers)
  nulls not distinct;
create index unmatched_receipt_retry on unmatched_receipt (retry_at);
-- Alerts count those of the last hour.
create index unmatched_receipt_received on unmatched_receipt (received_at);
