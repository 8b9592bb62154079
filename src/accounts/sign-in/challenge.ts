// Tests: test/contract/portal-person.test.ts, test/hostile/stolen-password.test.ts
import { type Clock, minuteMs } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import { keyedHash, sameBytes } from '../../platform/crypto/secrets.ts';

const challengeMs = 5 * minuteMs;
const form = /^(per_[0-9a-z]{26})\.([0-9]{13})\.([A-Za-z0-9_-]{43})$/;
export const challengeLength = 4 + 26 + 1 + 13 + 1 + 43;

/** Proves that a person's password was right a moment ago. A new password invalidates it. */
export function createSignInChallenges({ clock, keys }: { clock: Clock; keys: KeyRing }) {
  const macOf = (version: number, personId: string, expiresAtMs: number, passwordHash: string) =>
    keyedHash(keys.keyFor('second-factor', version), `challenge\n${personId}\n${expiresAtMs}\n${passwordHash}`);

  return {
    create(personId: string, passwordHash: string): string {
      const expiresAtMs = Math.floor(clock.nowMs()) + challengeMs;
      const mac = macOf(keys.version, personId, expiresAtMs, passwordHash);
      return `${personId}.${expiresAtMs}.${mac.toString('base64url')}`;
    },

    /** The person of the challenge, unless it has expired. The caller must also check `isGenuine`. */
    personIn(challenge: string): string | undefined {
      const [, personId, expiresAt] = form.exec(challenge) ?? [];
      return Number(expiresAt) > clock.nowMs() ? personId : undefined;
    },

    isGenuine(challenge: string, passwordHash: string): boolean {
      const [, personId = '', expiresAt, mac = ''] = form.exec(challenge) ?? [];
      const given = Buffer.from(mac, 'base64url');
      const versions = keys.versionsSince(clock.nowMs() - challengeMs);
      return versions.some((version) => sameBytes(given, macOf(version, personId, Number(expiresAt), passwordHash)));
    },
  };
}
