-- Hooks: where identity servers post the codes that they made (src/hooks/kinds.ts has the kinds).

create table hook (
  id text primary key,
  application_id text not null references application on delete cascade,
  kind text not null,
  -- The sender of texts without a code; null if it has none.
  sender text,
  locale text,
  -- Where the payload has what, as JSON pointers; null for the kind's own.
  pointers jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index hook_application on hook (application_id, id);

-- What proves a call: sealed by the key ring where it signs, else a keyed hash. No backup holds them.
create table hook_secret (
  id uuid primary key,
  hook_id text not null references hook on delete cascade,
  sealed bytea,
  hash bytea,
  created_at timestamptz not null,
  -- Null until another secret follows.
  ends_at timestamptz
);
create index hook_secret_hook on hook_secret (hook_id, id);

-- The last calls of each hook. No backup holds them.
create table hook_call (
  hook_id text not null references hook on delete cascade,
  -- The request.
  id uuid not null,
  at timestamptz not null,
  outcome text not null,
  -- What was wrong, for the developer.
  detail text,
  -- The verification or the text.
  subject text,
  primary key (hook_id, id)
);
