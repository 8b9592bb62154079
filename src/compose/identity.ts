import { createHelpLinks } from '../http/help-links.ts';
import { createProofSigner } from '../identity/proof.ts';
import { signJwsInPool } from '../identity/sign-jws.ts';
import { signingKeysChange } from '../identity/signing-keys.ts';
import { createTokenChecksums } from '../identity/token-checksum.ts';
import { createTokenService } from '../identity/token-service.ts';
import { createTokenVerifier } from '../identity/token-verifier.ts';
import { allApplications } from '../registry/directory.ts';
import { createRegistry } from '../registry/registry.ts';
import { createKnownGuard } from '../verify/guard-rules/known.ts';
import { guardRulesChange } from '../verify/guard-rules/service.ts';
import type { Foundation } from './foundation.ts';
import { composeSigningKeys } from './signing-keys.ts';

export type Identity = ReturnType<typeof composeIdentity>;

/** Builds the registry and the identity provider. `onApplicationChange` is called for every change on any node. */
export function composeIdentity(foundation: Foundation, onApplicationChange: (applicationId?: string) => void) {
  const { config, clock, database, sideDatabase, keys, log, metrics, version, sign = signJwsInPool } = foundation;
  const issuer = `${config.publicUrl}/realms/${config.realm}`;
  const registry = createRegistry({
    database,
    sideDatabase,
    clock,
    keys,
    log,
    config,
    about: { version, role: config.role, publicUrl: config.publicUrl },
    onChange({ applicationId }) {
      if (applicationId === signingKeysChange) forgetSigningKeys();
      if (applicationId === guardRulesChange) guard.forget();
      onApplicationChange(applicationId === allApplications ? undefined : applicationId);
    },
    onLost() {
      forgetSigningKeys();
      guard.forget();
      onApplicationChange();
    },
  });
  const { directory, clients, feed } = registry;
  const { guard: guardSettings, environment } = config;
  const guard = createKnownGuard({ database, settings: guardSettings, environment, isTrusted: feed.isTrusted });
  const signingKeys = composeSigningKeys(foundation, feed);
  const checksums = createTokenChecksums(keys);
  const verifier = createTokenVerifier({ database, clock, directory, clients, feed, signingKeys, checksums, issuer });

  function forgetSigningKeys(): void {
    signingKeys.forget();
    verifier.invalidate();
  }

  const tokens = createTokenService({
    database,
    clock,
    keys,
    clients,
    clientKeys: registry.knownClientKeys,
    feed,
    signingKeys,
    verifier,
    checksums,
    sign,
    issuer,
    tokenSeconds: config.tokenSeconds,
    onSecretUsed: registry.lastUsed.note,
  });
  metrics.gauge(
    'heliograph_remembered_credentials',
    'Keys, clients and tokens in the cache',
    () => registry.keyLookup.size + clients.size + verifier.size,
  );
  return {
    registry,
    /** The guard follows the registry's feed too. */
    currentGuard: guard.current,
    signingKeys,
    verifier,
    signProof: createProofSigner(sign, signingKeys, issuer, clock),
    routes: {
      tokens,
      signingKeys,
      realm: config.realm,
      issuer,
      help: createHelpLinks(config.publicUrl),
      nowMs: clock.nowMs,
    },
  };
}
