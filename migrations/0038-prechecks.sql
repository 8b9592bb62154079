-- What was checked before a verification's code was sent (src/verify/assurance/precheck.ts): the assurance profile and the answer of the
-- risk check. Null where neither applies.
alter table verification add column precheck text;
