import { createSigningKeys, type SigningKeys, signingKeysChange } from '../identity/signing-keys.ts';
import type { ChangeFeed } from '../registry/change-feed.ts';
import { proofMs } from '../verify/verification.ts';
import type { Foundation } from './foundation.ts';

/** The keys that sign tokens, with the service's settings. Every change of them goes through the feed to all nodes. */
export function composeSigningKeys(
  { config, clock, database, keys }: Pick<Foundation, 'config' | 'clock' | 'database' | 'keys'>,
  feed: Pick<ChangeFeed, 'change'>,
): SigningKeys {
  const signedForMs = Math.max(config.tokenSeconds * 1000, proofMs);
  const change: Parameters<typeof createSigningKeys>[0]['change'] = (work) => feed.change(signingKeysChange, work);
  return createSigningKeys({ database, clock, keys, alg: config.tokenAlg, signedForMs, change });
}
