-- Payments that a code confirms (docs/contract.md, section 21): amount, currency and payee. The code derives from them too.
alter table verification add column payment text;
