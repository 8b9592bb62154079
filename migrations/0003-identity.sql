-- The identity provider: the keys that sign its tokens, and the tokens that were revoked before their time.

create table signing_key (
  -- The RFC 7638 thumbprint of the public key.
  kid text primary key,
  alg text not null,
  public_jwk jsonb not null,
  -- Sealed under the key ring.
  private_key bytea not null,
  created_at timestamptz not null,
  -- It is published from creation on, and signs from here on, until a newer one does.
  signs_from timestamptz not null,
  -- Set when a newer one takes over: the end of the last token it signed.
  verifies_until timestamptz
);

create table token_revocation (
  -- By id, never by a hash of the token: the same token can be written in more than one way.
  jti text primary key,
  expires_at timestamptz not null
);
create index token_revocation_expires on token_revocation (expires_at);
