-- The identity provider: the keys that sign tokens, and revoked tokens.

create table signing_key (
  -- The RFC 7638 thumbprint of the public key.
  kid text primary key,
  alg text not null,
  public_jwk jsonb not null,
  -- Encrypted under the key ring.
  private_key bytea not null,
  -- The key is published from its creation. It signs from this time until a newer key does.
  signs_from timestamptz not null,
  -- Set when a newer key takes over: when the last token it signed expires.
  verifies_until timestamptz
);

create table token_revocation (
  -- The token's id, not a hash of its text: one token can be spelled in more than one way.
  jti text primary key,
  expires_at timestamptz not null
);
create index token_revocation_expires on token_revocation (expires_at);
