-- A call rings until a person at a virtual phone answers or declines it, or nobody does. `error` says why it failed.
alter table handset_late_receipt
  add column rings boolean not null default false,
  add column error text;
