-- Codes that callers make themselves, and the results that they report.

-- code_hash: a keyed hash of the caller's code; null where the code derives from the id.
-- outcome: the result that the caller reported (src/verify/verification.ts has the list).
alter table verification add column code_hash bytea, add column outcome smallint;

-- The caller's code, sealed under a key of the ring and the verification's id. It goes with the row.
alter table pending_verification add column sealed_code bytea;

-- Outcomes that came when their verification was about to be counted, or had been. The count of ended codes deletes them.
create table late_outcome (
  verification_id uuid primary key
);

-- When an application last checked or reported codes of its own. Conversion counts such codes for 7 days from then.
create table code_reporter (
  application_id uuid primary key,
  reported_at timestamptz not null
);
