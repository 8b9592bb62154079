import type { KeyRing } from '../platform/crypto/keys.ts';
import { keyedHash, sameBytes } from '../platform/crypto/secrets.ts';

/**
 * A keyed checksum over a token's claims. Only we can make one, so a hash rejects made-up tokens; checking their
 * signature would cost ten times as much. It proves nothing: the signature does that.
 */
export interface TokenChecksums {
  /** Like `1.kV2…`: it names the version of the ring that made it. */
  of(claims: object): string;
  isRight(claims: Record<string, unknown>): boolean;
}

const length = 9;
const form = /^([1-9]\d{0,3})\.([A-Za-z0-9_-]{12})$/;

export function createTokenChecksums(keys: KeyRing): TokenChecksums {
  function checksum({ jti, client_id, rid, cv, scope, exp_ms }: Record<string, unknown>, version: number): Buffer {
    const said = JSON.stringify([jti, client_id, rid, cv, scope, exp_ms]);
    return keyedHash(keys.keyFor('token-checksum', version), said).subarray(0, length);
  }

  return {
    of(claims) {
      const { version } = keys;
      return `${version}.${checksum(claims as Record<string, unknown>, version).toString('base64url')}`;
    },
    isRight(claims) {
      const [, named, given = ''] = typeof claims.chk === 'string' ? (form.exec(claims.chk) ?? []) : [];
      const version = Number(named);
      if (!keys.versions.includes(version)) return false;
      return sameBytes(checksum(claims, version), Buffer.from(given, 'base64url'));
    },
  };
}
