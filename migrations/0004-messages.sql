-- Messages and their delivery. A message's row is also its queue entry; it commits with the response.

create table message (
  id text primary key,
  application_id text not null,
  -- The API it was sent through: 'sms', 'messaging', or 'verify' for the text of a verification.
  api text not null,
  verification_id text,
  channel text not null,
  -- Masked after the retention time, when the body becomes null. A verification's text is never stored.
  recipient text not null,
  sender text not null,
  body text,
  -- What a verification's text is rendered from when it is sent; never the code.
  template jsonb,
  status text not null,
  encoding text not null,
  segment_count smallint not null,
  characters integer not null,
  remaining smallint not null,
  reference text,
  error_code text,
  correlation_id text not null,
  -- Rises by one with every change that an event will report.
  sequence integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  sent_at timestamptz,
  delivered_at timestamptz,
  expires_at timestamptz not null,

  -- The queue. `due_at` is when a worker must next handle the row; null when no work is left.
  carrier text not null,
  due_at timestamptz,
  -- Every claim raises it. A result names its attempt, so a late result changes nothing.
  attempt integer not null default 0,
  -- True from the claim until the result is written. If a later claim finds it true, the text may have been sent.
  on_the_wire boolean not null default false,
  -- Submits that the carrier did not answer.
  unanswered smallint not null default 0,
  -- How often it was sent again while it was unknown whether it had arrived.
  possible_duplicates smallint not null default 0,
  carrier_message_id text
) with (
  -- Rows change three or four times in their first second: vacuum early, so that the queue's index stays small.
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, fillfactor = 85
);

-- Lists, newest first, one index per filter.
create index message_list on message (application_id, api, id);
create index message_recipient on message (application_id, api, recipient, id);
create index message_status on message (application_id, api, status, id);
create index message_reference on message (application_id, api, reference, id) where reference is not null;
-- No statistics on the columns that lists filter by. If Postgres knew that most messages are one application's, or
-- delivered, it would scan all messages by age, and find none when that application was quiet for a month.
alter table message alter column id set statistics 0, alter column application_id set statistics 0,
  alter column recipient set statistics 0, alter column status set statistics 0, alter column reference set statistics 0;
-- One queue per carrier, so that a slow carrier does not delay the others.
create index message_due on message (carrier, due_at) where due_at is not null;
create index message_carrier_id on message (carrier, carrier_message_id) where carrier_message_id is not null;
create index message_verification on message (verification_id, id) where verification_id is not null;

-- How far numbers and texts are masked. Ids sort by age, so one id is enough.
create table retention (
  kind text primary key,
  masked_before text not null
);

-- Receipts that arrived before the carrier's response was written, or that match no message.
create table unmatched_receipt (
  id bigint generated always as identity primary key,
  carrier text not null,
  carrier_message_id text not null,
  outcome text not null,
  error_code text,
  received_at timestamptz not null,
  -- When to look for its message again: less and less often, so that receipts without a message cost little.
  retry_at timestamptz not null
);
create unique index unmatched_receipt_id on unmatched_receipt (carrier, carrier_message_id, outcome);
create index unmatched_receipt_retry on unmatched_receipt (retry_at);

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
  application_id text not null,
  recipient text not null,
  message_id text not null,
  attempt integer not null,
  received_at timestamptz not null,
  receipt_outcome text not null,
  receipt_error text,
  -- When the phone's network sends its receipt; null once it has.
  receipt_due_at timestamptz,
  unique (message_id, attempt)
);
create index handset_text_inbox on handset_text (application_id, id);
create index handset_text_number on handset_text (application_id, recipient, id);
create index handset_text_receipt on handset_text (receipt_due_at) where receipt_due_at is not null;
