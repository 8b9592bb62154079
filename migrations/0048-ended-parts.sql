-- Of a part whose text is not sent: when that was decided, and its status (src/messages/message.ts). Null for a part
-- that a node from before this has given up.
alter table smpp_part add column ended_at timestamptz, add column end_status smallint;
