-- Codes by voice and WhatsApp. A channel is a number (src/messages/channel.ts).

-- Countries where an operator lets the application call people; none at first.
alter table application add column call_countries text[] not null default '{}';

-- Sends of pending verifications beyond their first, by number: the guard counts those that go by another channel than sms
-- as it counts starts. Kept for a day.
create table counted_send (
  message_id uuid not null,
  application_id uuid not null,
  recipient text collate "C" not null,
  primary key (recipient, application_id, message_id)
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000
);
create index counted_send_age on counted_send (message_id);
alter table counted_send alter column application_id set statistics 0, alter column recipient set statistics 0,
  alter column message_id set statistics 0;
