import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { keyedHash } from '../platform/crypto/secrets.ts';
import { isId, newId } from '../platform/ids.ts';

const checksumLength = 6;
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * The ids of hooks. They end in a keyed checksum: a made-up id is recognised without a lookup, so guesses cost the
 * database nothing, and a real hook is found even while its address is locked out.
 */
export function createHookIds(keys: KeyRing, clock: Clock) {
  function checksumOf(text: string, version: number): string {
    const hash = keyedHash(keys.keyFor('hook-secret', version), `id:${text}`);
    let checksum = '';
    for (let at = 0; at < checksumLength; at++) checksum += alphabet[(hash[at] ?? 0) & 31];
    return checksum;
  }

  return {
    create(): string {
      const text = newId('hok', clock).slice(0, -checksumLength);
      return text + checksumOf(text, keys.version);
    },

    isPlausible(id: string): boolean {
      if (!isId('hok', id)) return false;
      const [text, checksum] = [id.slice(0, -checksumLength), id.slice(-checksumLength)];
      return keys.versions.some((version) => checksumOf(text, version) === checksum);
    },
  };
}

export type HookIds = ReturnType<typeof createHookIds>;
