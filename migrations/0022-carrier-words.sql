-- What carriers say in their own words, and a bound for receipts that match no text.

-- Of the answer, like `0x45: submit failed` or `HTTP 403, 30007`; and of a receipt with bad news, like `stat:UNDELIV err:069`.
alter table text_attempt add column reported text, add column receipt_reported text;
-- A receipt that waits for its message keeps its words.
alter table unmatched_receipt add column reported text;

-- The oldest go when an account has too many.
create index unmatched_receipt_account on unmatched_receipt (account, id);
