import { createProofSigner } from '../identity/proof.ts';
import { createSigningKeys, signingKeysChange } from '../identity/signing-keys.ts';
import { createTokenChecksums } from '../identity/token-checksum.ts';
import { createTokenService } from '../identity/token-service.ts';
import { createTokenVerifier } from '../identity/token-verifier.ts';
import { createLastUsed } from '../registry/last-used.ts';
import { createRegistry } from '../registry/registry.ts';
import type { Foundation } from './foundation.ts';

export type Identity = ReturnType<typeof composeIdentity>;

/** Builds the registry and the identity provider. `onApplicationChange` is called for every change on any node. */
export function composeIdentity(foundation: Foundation, onApplicationChange: (applicationId?: string) => void) {
  const { config, clock, database, sideDatabase, keys, log, metrics } = foundation;
  const issuer = `${config.publicUrl}/realms/${config.realm}`;
  const registry = createRegistry({
    database,
    sideDatabase,
    clock,
    keys,
    log,
    config,
    onChange({ applicationId }) {
      if (applicationId === signingKeysChange) signingKeys.forget();
      onApplicationChange(applicationId);
    },
    onLost() {
      signingKeys.forget();
      onApplicationChange();
    },
  });
  const { directory, feed } = registry;
  const lastUsed = createLastUsed(sideDatabase, clock, log);
  const signingKeys = createSigningKeys({
    database,
    clock,
    keys,
    alg: config.tokenAlg,
    tokenSeconds: config.tokenSeconds,
    change: (work) => feed.change(signingKeysChange, work),
  });
  const checksums = createTokenChecksums(keys);
  const verifier = createTokenVerifier({ database, clock, directory, feed, signingKeys, checksums, issuer });
  const tokens = createTokenService({
    database,
    clock,
    keys,
    directory,
    feed,
    signingKeys,
    verifier,
    checksums,
    issuer,
    tokenSeconds: config.tokenSeconds,
    onSecretUsed: lastUsed.note,
  });
  metrics.gauge(
    'heliograph_remembered_credentials',
    'Keys, clients and tokens in the cache',
    () => directory.size + verifier.size,
  );
  return {
    registry,
    lastUsed,
    signingKeys,
    verifier,
    signProof: createProofSigner(signingKeys, issuer, clock),
    routes: { tokens, signingKeys, realm: config.realm, issuer, nowMs: clock.nowMs },
  };
}
