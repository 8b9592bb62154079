-- The texts that people are asked for, as keyed hashes, to say of one that approves nothing why: a row for each
-- verification by `inbound`.
create table awaited_text (
  verification_id uuid primary key,
  text_hash bytea not null,
  -- What came and was refused, oldest first (src/verify/inbound/refused-texts.ts); no number is in it.
  refused jsonb not null default '[]'
);
create index awaited_text_hash on awaited_text (text_hash);
