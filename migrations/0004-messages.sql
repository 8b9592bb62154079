-- Texts, and how they get to a phone. A message's row, committed with its answer, is its own queue entry.

create table message (
  id text primary key,
  application_id text not null,
  -- The API it was sent through: 'sms', 'messaging', or 'verify' for the text of a verification.
  api text not null,
  verification_id text,
  channel text not null,
  -- Masked after the retention time; the text is then null. A verification's text is never stored at all.
  recipient text not null,
  sender text not null,
  body text,
  -- What such a text is rendered from when it leaves: never the code.
  template jsonb,
  status text not null,
  encoding text not null,
  segment_count smallint not null,
  characters integer not null,
  remaining smallint not null,
  reference text,
  error_code text,
  correlation_id text not null,
  -- Rises by one with every change that an event will tell of.
  sequence integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  sent_at timestamptz,
  delivered_at timestamptz,
  expires_at timestamptz not null,

  -- The queue. `due_at` is when somebody has to look at it next, null when nobody has to.
  carrier text not null,
  due_at timestamptz,
  -- Raised by every claim: whoever writes a result names the attempt it belongs to, and a late one changes nothing.
  attempt integer not null default 0,
  -- True from the claim until its result is written: found true at the next claim, the text may have been sent.
  on_the_wire boolean not null default false,
  -- How many submits the carrier left unanswered.
  unanswered smallint not null default 0,
  -- How often it was sent again without knowing whether it had arrived.
  possible_duplicates smallint not null default 0,
  carrier_message_id text
) with (
  -- Rows change three or four times in their first second: vacuum early, so that the queue's index stays small.
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, fillfactor = 85
);

-- Lists, newest first, by each filter there is.
create index message_list on message (application_id, api, id);
create index message_recipient on message (application_id, api, recipient, id);
create index message_status on message (application_id, api, status, id);
create index message_reference on message (application_id, api, reference, id) where reference is not null;
-- No statistics on what lists are filtered by: knowing that most messages are one application's, or delivered, Postgres
-- would go through everybody's by age instead, and meet none of them when that application has been quiet for a month.
alter table message alter column id set statistics 0, alter column application_id set statistics 0,
  alter column recipient set statistics 0, alter column status set statistics 0, alter column reference set statistics 0;
-- The queue, one per carrier, so that a slow one is nobody else's.
create index message_due on message (carrier, due_at) where due_at is not null;
create index message_carrier_id on message (carrier, carrier_message_id) where carrier_message_id is not null;
create index message_verification on message (verification_id, id) where verification_id is not null;

-- How far numbers and texts have been masked. Ids sort by age, so one id says it.
create table retention (
  kind text primary key,
  masked_before text not null
);

-- Receipts that came before the carrier's own answer was written down, or for nobody.
create table unmatched_receipt (
  id bigint generated always as identity primary key,
  carrier text not null,
  carrier_message_id text not null,
  outcome text not null,
  error_code text,
  received_at timestamptz not null,
  -- When its message is looked for next: less and less often, so that receipts for nobody cost nearly nothing.
  retry_at timestamptz not null
);
create unique index unmatched_receipt_id on unmatched_receipt (carrier, carrier_message_id, outcome);
create index unmatched_receipt_retry on unmatched_receipt (retry_at);

-- Answers that are given again for the same Idempotency-Key.
create table idempotency (
  -- Keyed hashes: of application, method, path and key; and of the payload.
  hash bytea primary key,
  payload_hash bytea not null,
  -- Which request made it: a batch that runs twice must recognise itself.
  correlation_id text not null,
  status smallint not null,
  -- Encrypted under the key ring: an answer may hold a number, a text or a proof.
  sealed_body bytea not null,
  location text,
  expires_at timestamptz not null
);
create index idempotency_expires on idempotency (expires_at);

-- The sandbox's phones: which submit arrived when. The text is rendered when it is read, so that no row holds a code.
create table handset_text (
  id bigint generated always as identity primary key,
  application_id text not null,
  recipient text not null,
  message_id text not null,
  attempt integer not null,
  received_at timestamptz not null,
  receipt_outcome text not null,
  receipt_error text,
  -- When the phone's network reports back; null once it has.
  receipt_due_at timestamptz,
  unique (message_id, attempt)
);
create index handset_text_inbox on handset_text (application_id, id);
create index handset_text_number on handset_text (application_id, recipient, id);
create index handset_text_receipt on handset_text (receipt_due_at) where receipt_due_at is not null;
