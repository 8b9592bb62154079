-- The sandbox.

-- The sandbox's phones: which submit arrived when. The text is rendered when it is read, so no row holds a code.
create table handset_text (
  id bigint generated always as identity primary key,
  application_id uuid not null,
  message_id uuid not null,
  received_at timestamptz not null,
  -- 0 if a configured carrier delivered it.
  attempt integer not null,
  -- Whether it reached the phone; the network says so in its receipt.
  delivered boolean not null,
  -- False for a text that a configured carrier delivered: that carrier has sent the receipt.
  reports boolean not null default true,
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
