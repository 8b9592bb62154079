// Tests: test/smpp-server/accounts.test.ts
import type { KeyRing } from '../platform/crypto/keys.ts';
import { base62, randomBase32, randomBase62 } from '../platform/crypto/random.ts';
import { keyedHash, sameBytes } from '../platform/crypto/secrets.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const [start, randomLength, checksumLength] = ['hg', 9, 4];
const form = new RegExp(`^${start}[${alphabet}]{${randomLength + checksumLength}}$`);
/** SMPP 3.4 allows no more. */
export const passwordLength = 8;
const passwordForm = new RegExp(`^[${base62}]{${passwordLength}}$`);

export interface Credential {
  systemId: string;
  password: string;
}

/** The names and passwords of accounts. A name ends in a keyed checksum: a made-up one costs no lookup. */
export function createSmppCredentials(keys: KeyRing) {
  function checksumOf(text: string, version: number): string {
    const hash = keyedHash(keys.keyFor('smpp-password', version), `id:${text}`);
    let checksum = '';
    for (let at = 0; at < checksumLength; at++) checksum += alphabet[(hash[at] ?? 0) & 31];
    return checksum;
  }

  const hashOf = ({ systemId, password }: Credential, version: number) =>
    keyedHash(keys.keyFor('smpp-password', version), `${systemId}:${password}`);

  return {
    newSystemId(): string {
      const text = start + randomBase32(alphabet, randomLength);
      return text + checksumOf(text, keys.version);
    },
    newPassword: (): string => randomBase62(passwordLength),
    hash: (credential: Credential): Buffer => hashOf(credential, keys.version),

    isPlausible({ systemId, password }: Credential): boolean {
      if (!form.test(systemId) || !passwordForm.test(password)) return false;
      const [text, checksum] = [systemId.slice(0, -checksumLength), Buffer.from(systemId.slice(-checksumLength))];
      return keys.versions.some((version) => sameBytes(Buffer.from(checksumOf(text, version)), checksum));
    },

    /** Any version of the ring may have made it. */
    isRight(credential: Credential, hash: Buffer): boolean {
      return keys.versions.some((version) => sameBytes(hashOf(credential, version), hash));
    },
  };
}

export type SmppCredentials = ReturnType<typeof createSmppCredentials>;
