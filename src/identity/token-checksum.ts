import type { KeyRing } from '../platform/keys.ts';
import { keyedHash, sameBytes } from '../platform/secrets.ts';

/**
 * A keyed checksum over a token's claims. Only we can make one, so a hash rejects made-up tokens; checking their
 * signature would cost ten times as much. It proves nothing: the signature does that.
 */
export interface TokenChecksums {
  of(claims: object): string;
  /** Tries every key-ring version that may have made the checksum. */
  isRight(claims: Record<string, unknown>): boolean;
}

const length = 9;

export function createTokenChecksums(keys: KeyRing): TokenChecksums {
  function checksum({ jti, client_id, rid, cv, scope, exp_ms }: Record<string, unknown>, version: number): Buffer {
    const said = JSON.stringify([jti, client_id, rid, cv, scope, exp_ms]);
    return keyedHash(keys.keyFor('token-checksum', version), said).subarray(0, length);
  }

  return {
    of: (claims) => checksum(claims as Record<string, unknown>, keys.version).toString('base64url'),
    isRight(claims) {
      const { chk } = claims;
      if (typeof chk !== 'string') return false;
      const given = Buffer.from(chk, 'base64url');
      for (let version = keys.version; version > 0; version--) {
        if (sameBytes(checksum(claims, version), given)) return true;
      }
      return false;
    },
  };
}
