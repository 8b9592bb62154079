-- Attempts: what became of each submit of a text, where the record of its message alone does not tell it.

-- A row for an attempt that the carrier did not simply accept, for one whose receipt came after the text had moved on, and
-- for one of which the provider told parts, price or network. Other attempts are told by their message.
create table text_attempt (
  message_id uuid not null,
  -- As the queue counts: from 1, every submit and every move to another carrier.
  attempt integer not null,
  carrier text not null,
  submitted_at timestamptz not null,
  -- accepted, refused, unavailable, throttled, in_doubt: src/delivery/text-attempt.ts has the list.
  outcome smallint not null,
  error_code smallint,
  carrier_message_id text,
  -- The carrier that the text then went on to, and the route that allowed it; null with an empty table.
  moved_to text,
  route_version integer,
  route_name text,
  -- As the provider told them.
  parts smallint,
  price numeric,
  currency text,
  network text,
  -- From a receipt that came when the text was with another carrier.
  receipt smallint,
  primary key (message_id, attempt)
);

-- How far each route has used up its rate of moving bulk texts off carriers that are down, over all nodes.
create table bulk_failover (
  route text primary key,
  used_until timestamptz not null
);
