-- private_key_jwt: the public keys of clients, and the assertions that were used.

create table client_key (
  id text primary key,
  client_id text not null references oauth_client on delete cascade,
  name text,
  -- How assertions name it: the kid of the uploaded JWK, else its thumbprint.
  kid text not null,
  -- RFC 7638.
  thumbprint text not null,
  alg text not null check (alg in ('ES256', 'RS256', 'PS256', 'EdDSA')),
  -- The key as SubjectPublicKeyInfo.
  spki bytea not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  -- Since a backup was restored: it opens nothing until its owner or an operator enables it.
  suspended_at timestamptz,
  unique (client_id, kid),
  unique (client_id, thumbprint)
);

-- Each counts once on all nodes. No backup holds them.
create table client_assertion (
  -- A hash of the client and its jti.
  id bytea primary key,
  expires_at timestamptz not null
);
create index client_assertion_expires on client_assertion (expires_at);
