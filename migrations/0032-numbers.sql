-- The index of numbers begins with the number, so that operators find one in all applications. Lists of one application
-- name all its columns, so they read as much as before.
do $$ begin
  if (select coalesce(sum(pg_relation_size(inhrelid)), 0) from pg_inherits where inhparent = 'message'::regclass)
    <= 8 * 1024 * 1024 then
    lock table message in access exclusive mode;
    create index message_number on message (recipient, application_id, api, id) where verification_id is null;
    drop index message_recipient;
  else
    -- A chore builds it for one partition after another and then drops the old one (src/platform/database/index-turn.ts).
    -- Partitions that are made from now on have both.
    create index message_number on only message (recipient, application_id, api, id) where verification_id is null;
  end if;
end $$;
