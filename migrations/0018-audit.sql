-- Who did what, when and from where. Rows are only added; upkeep removes those that are too old.

create table audit (
  id text primary key,
  created_at timestamptz not null,
  -- A member of the account, an operator, or a command on the machine.
  actor_kind text not null check (actor_kind in ('member', 'operator', 'machine')),
  -- No references: an entry outlives the person, the account and what was changed.
  actor_id text,
  -- As it was at that time.
  actor_email text,
  -- The account whose owners see the entry; null for what belongs to the service.
  account_id text,
  -- Such as `key.created`.
  act text not null,
  target_kind text not null,
  target_id text not null,
  -- Without secrets, at most 2,000 characters.
  details jsonb not null,
  -- Null for a command on the machine.
  address text
);
create index audit_account on audit (account_id, id) where account_id is not null;
create index audit_actor on audit (actor_email, id);
create index audit_act on audit (act, id);
create index audit_target on audit (target_id, id);

-- Not even a mistake in our own statements may change the log.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('heliograph.audit_upkeep', true) = 'on' then
    return old;
  end if;
  raise exception 'the audit log is append-only';
end $$;
create trigger audit_append_only before update or delete on audit
  for each row execute function refuse_audit_change();
create trigger audit_not_emptied before truncate on audit
  for each statement execute function refuse_audit_change();
