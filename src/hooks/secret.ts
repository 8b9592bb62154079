import type { KeyRing } from '../platform/crypto/keys.ts';
import { base62, randomBase62, randomBytes } from '../platform/crypto/random.ts';
import { keyedHash, sameBytes } from '../platform/crypto/secrets.ts';
import type { HookKind } from './hook.ts';
import { kindRules } from './kinds.ts';

/** A new secret: as it is stored, and as its owner sees it once. `shown` is null if the server made the key. */
export interface NewHookSecret {
  sealed: Buffer | null;
  hash: Buffer | null;
  shown: string | null;
}

const start = 'hg_hook_';
const randomLength = 32;
const checksumLength = 8;
const form = new RegExp(`^${start}[0-9A-Za-z]{${randomLength}}_[0-9A-Za-z]{${checksumLength}}$`);
const signingBytes = 32;
export const longestGiven = 512;

export function createHookSecrets(keys: KeyRing) {
  /** Detects typos and guesses without a lookup, like that of an API key. */
  function checksumOf(text: string, version: number): string {
    const hash = keyedHash(keys.keyFor('hook-secret', version), `checksum:${text}`);
    let checksum = '';
    for (let at = 0; at < checksumLength; at++) checksum += base62[(hash[at] ?? 0) % 62];
    return checksum;
  }

  const hashOf = (text: string, version: number) => keyedHash(keys.keyFor('hook-secret', version), text);
  const contextOf = (hookId: string) => `hook:${hookId}`;

  return {
    /** `given` is the key that the server made, for a kind that makes its own. */
    create(hookId: string, kind: HookKind, given: string | undefined): NewHookSecret {
      const seal = (key: Buffer) => keys.seal(key, contextOf(hookId));
      switch (kindRules[kind].proof) {
        case 'zitadel':
          return { sealed: seal(Buffer.from(given ?? '')), hash: null, shown: null };
        case 'standard-webhooks': {
          const key = randomBytes(signingBytes);
          return { sealed: seal(key), hash: null, shown: `v1,whsec_${key.toString('base64')}` };
        }
        case 'bearer': {
          const { version } = keys;
          const text = `${start}${randomBase62(randomLength)}`;
          const shown = `${text}_${checksumOf(text, version)}`;
          return { sealed: null, hash: hashOf(shown, version), shown };
        }
      }
    },

    /** The hashes to compare a bearer secret by; none for text that we did not make. */
    hashesOf(text: string): Buffer[] {
      if (!form.test(text)) return [];
      const body = text.slice(0, start.length + randomLength);
      const checksum = Buffer.from(text.slice(-checksumLength));
      const isOurs = keys.versions.some((version) => sameBytes(Buffer.from(checksumOf(body, version)), checksum));
      return isOurs ? keys.versions.map((version) => hashOf(text, version)) : [];
    },

    open: (hookId: string, sealed: Buffer): Buffer => keys.open(sealed, contextOf(hookId)),
  };
}

export type HookSecrets = ReturnType<typeof createHookSecrets>;
