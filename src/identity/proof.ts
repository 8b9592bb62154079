import type { Clock } from '../platform/clock.ts';
import { unavailable } from '../platform/errors.ts';
import { signJws } from './sign-jws.ts';
import { type SigningKeys, signingKeyAt } from './signing-keys.ts';

export interface ProofClaims {
  applicationId: string;
  verificationId: string;
  phoneNumber: string;
  approvedAtMs: number;
  expiresAtMs: number;
}

/** Its own type, and an audience that is none of our APIs: it proves a number and opens nothing. */
export const proofType = 'phone-proof+jwt';

/** A short statement, checkable by anyone with our JWKS, that a number was verified. */
export function createProofSigner(signingKeys: SigningKeys, issuer: string, clock: Clock) {
  return async (claims: ProofClaims): Promise<string> => {
    const key = signingKeyAt(signingKeys.loaded() ?? (await signingKeys.load()), clock.nowMs());
    if (key === undefined) throw unavailable('No signing key is ready. Try again shortly.');
    return signJws(key, proofType, {
      iss: issuer,
      aud: claims.applicationId,
      sub: claims.verificationId,
      phone_number: claims.phoneNumber,
      phone_number_verified: true,
      iat: Math.floor(claims.approvedAtMs / 1000),
      exp: Math.floor(claims.expiresAtMs / 1000),
      // One approval, one proof, however often it is read.
      jti: `proof_${claims.verificationId}`,
    });
  };
}
