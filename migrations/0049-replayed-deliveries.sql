-- A replay has queued it: its type need not be among those of the webhook.
alter table webhook_delivery add column replayed boolean not null default false;
