-- Claims that their workers find again, results that are applied once, and expiry without a carrier.

-- A worker makes a token before each claim: it finds the claim by it even if it never got the answer. Every statement that
-- records results names the revision it has seen, and raises it: a repeated one changes nothing.
alter table delivery_claim add column token uuid not null default gen_random_uuid(),
  add column revision integer not null default 0;

-- When the text expires, whatever its carrier does. Null in rows of earlier versions, until a chore has filled it in.
alter table delivery_queue add column expires_at timestamptz;
alter table delivery_schedule add column expires_at timestamptz;
create index delivery_queue_expiry on delivery_queue (expires_at);
create index delivery_schedule_expiry on delivery_schedule (expires_at);
