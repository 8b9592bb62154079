import type { KeyRing } from '../platform/crypto/keys.ts';
import { base62, randomBase62 } from '../platform/crypto/random.ts';
import { keyedHash, sameBytes } from '../platform/crypto/secrets.ts';

/** `hg_sandbox_<random>_<checksum>`: 190 random bits, and a keyed checksum that detects typos and guesses. */
export interface ApiKeys {
  create(): { key: string; hash: Buffer; prefix: string; lastFour: string };
  /** True if we can have issued this key. Needs no lookup. */
  isWellFormed(text: string): boolean;
  /** The hashes to find a key by. A key does not name its ring version and never expires: one hash for each version. */
  hashes(key: string): Buffer[];
}

const randomLength = 32;
const checksumLength = 8;

export function createApiKeys(keys: KeyRing, environment: 'sandbox' | 'production'): ApiKeys {
  const start = environment === 'production' ? 'hg_live_' : 'hg_sandbox_';
  const form = new RegExp(`^${start}[0-9A-Za-z]{${randomLength}}_[0-9A-Za-z]{${checksumLength}}$`);

  function checksumOf(body: string, version: number): string {
    const hash = keyedHash(keys.keyFor('api-key-checksum', version), body);
    let text = '';
    for (let i = 0; i < checksumLength; i++) text += base62[(hash[i] ?? 0) % 62];
    return text;
  }

  return {
    create() {
      const { version } = keys;
      const body = `${start}${randomBase62(randomLength)}`;
      const key = `${body}_${checksumOf(body, version)}`;
      const hash = keyedHash(keys.keyFor('api-key', version), key);
      return { key, hash, prefix: key.slice(0, start.length + 4), lastFour: key.slice(-4) };
    },

    isWellFormed(text) {
      if (!form.test(text)) return false;
      const body = text.slice(0, start.length + randomLength);
      const checksum = Buffer.from(text.slice(-checksumLength));
      return keys.versions.some((version) => sameBytes(Buffer.from(checksumOf(body, version)), checksum));
    },

    hashes: (key) => keys.versions.map((version) => keyedHash(keys.keyFor('api-key', version), key)),
  };
}
