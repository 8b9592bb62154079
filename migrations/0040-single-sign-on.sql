-- Single sign-on by OpenID Connect.

-- A person at a provider. Its e-mail plays no part.
create table sso_identity (
  issuer text not null,
  subject text not null,
  person_id text not null references person on delete cascade,
  created_at timestamptz not null,
  primary key (issuer, subject),
  unique (person_id, issuer)
);

-- On the way to the provider and back: ten minutes, once.
create table sso_attempt (
  -- A keyed hash of the cookie that binds it to a browser.
  hash bytea primary key,
  return_to text not null,
  -- The session that joins the identity to its person; null for a sign-in.
  session_hash bytea,
  expires_at timestamptz not null
);
create index sso_attempt_expires on sso_attempt (expires_at);

-- Signed in at the provider; a code of our second factor has to follow.
create table sso_challenge (
  hash bytea primary key,
  person_id text not null references person on delete cascade,
  issuer text not null,
  subject text not null,
  operator boolean not null,
  refresh bytea,
  expires_at timestamptz not null
);
create index sso_challenge_expires on sso_challenge (expires_at);
create index sso_challenge_person on sso_challenge (person_id);

-- What a claim or the provider's second factor gives to one session.
alter table session add column operator boolean not null default false, add column second_factor boolean not null default false;

create table sso_session (
  session_hash bytea primary key references session on delete cascade,
  issuer text not null,
  subject text not null,
  -- Sealed by the key ring; null when the provider gave none.
  refresh bytea,
  due_at timestamptz not null,
  -- Until then one node has it.
  leased_until timestamptz
);
create index sso_session_due on sso_session (due_at) where refresh is not null;
