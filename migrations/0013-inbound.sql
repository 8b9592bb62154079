-- Texts from phones: our numbers, what came to them, and who does not want texts of ours.
--
-- Numbers such as `source` stand for names; src/inbound has the lists.

-- A number or short code that people text to, and the application that gets the texts.
create table own_number (
  id uuid primary key,
  -- +447700900123, or 80123.
  number text not null,
  -- Texts that begin with this word, in upper case. Null: all others.
  keyword text,
  -- The name of the carrier whose texts are meant. Null: any carrier's.
  carrier text,
  application_id text not null references application on delete cascade,
  api smallint not null,
  -- Stop, start and help words that mean nothing here.
  ignored_words text[] not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index own_number_place on own_number (number, keyword, carrier) nulls not distinct;
create index own_number_application on own_number (application_id);

create table inbound_text (
  id uuid primary key,
  -- Null if the number is given to no application: operators see the text.
  application_id uuid,
  api smallint,
  carrier text not null,
  -- The phone. Masked after the retention time, when the body becomes null.
  sender text not null,
  recipient text not null,
  body text,
  encoding smallint not null,
  segment_count smallint not null,
  characters integer not null,
  remaining smallint not null,
  keyword text,
  -- Some parts never came.
  partial boolean not null,
  possible_opt_out boolean not null,
  received_at timestamptz not null
);
create index inbound_text_list on inbound_text (application_id, api, id);
create index inbound_text_from on inbound_text (application_id, api, sender, id);
create index inbound_text_to on inbound_text (application_id, api, recipient, id);
create index inbound_text_unassigned on inbound_text (id) where application_id is null;
-- How often a phone has texted a number lately, and what is to be forgotten.
create index inbound_text_sender on inbound_text (sender, recipient, id);

-- Parts of texts that are not complete yet. Another phone, width or total is another text.
create table inbound_part (
  carrier text not null,
  sender text not null,
  recipient text not null,
  width smallint not null,
  reference integer not null,
  total smallint not null,
  part smallint not null,
  -- UTF-16: a phone may cut a text inside a pair.
  body bytea not null,
  received_at timestamptz not null,
  primary key (carrier, sender, recipient, width, reference, total, part)
);
create index inbound_part_age on inbound_part (received_at);
create index inbound_part_sender on inbound_part (sender);

-- What has come already, by a keyed hash of the carrier's id, or of numbers and text.
create table inbound_seen (
  hash bytea primary key,
  expires_at timestamptz not null
);
create index inbound_seen_expires on inbound_seen (expires_at);

-- Who does not want texts: of a sender, or of an application. The hash of the number is keyed by the ring, and stays when
-- the number is masked.
create table opt_out (
  id uuid primary key,
  number_hash bytea not null,
  scope smallint not null,
  -- The sender's digits or its name in lower case, or the application's id.
  subject text not null,
  -- The application that is told of it. Of a sender: the one whose text a carrier has refused, or null.
  application_id uuid,
  number text not null,
  source smallint not null,
  word text,
  created_at timestamptz not null,
  unique (number_hash, scope, subject)
);
create index opt_out_list on opt_out (scope, subject, id);

-- Every change of it, for good.
create table opt_out_change (
  id uuid primary key,
  number_hash bytea not null,
  scope smallint not null,
  subject text not null,
  opted_out boolean not null,
  source smallint not null,
  word text,
  -- Of an operator.
  reason text,
  account_id text,
  changed_at timestamptz not null
);
create index opt_out_change_number on opt_out_change (number_hash, id);

-- Our own answers to words. They go to people who have opted out, and there are few of them.
create table automatic_reply (
  message_id uuid primary key,
  number_hash bytea not null,
  sender text not null,
  -- Of a stop or start word: one a day at most.
  confirmation boolean not null,
  sent_at timestamptz not null
);
create index automatic_reply_number on automatic_reply (number_hash, sender, message_id);

-- What a help word gets. Null: a sentence of ours.
alter table application add column help_text text;
