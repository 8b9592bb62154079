import type { Clock } from '../platform/clock.ts';
import { unavailable } from '../platform/errors.ts';
import type { JwsSigner } from './sign-jws.ts';
import { type SigningKeys, signingKeyAt } from './signing-keys.ts';

export interface ProofClaims {
  applicationId: string;
  verificationId: string;
  phoneNumber: string;
  approvedAtMs: number;
  expiresAtMs: number;
  amr: readonly string[];
  assurance?: string;
  payment?: { amount: string; currency: string; payee: string };
}

/** A separate type, and an audience that is none of our APIs: a proof states a number and opens no API. */
export const proofType = 'phone-proof+jwt';

/** Signs a short statement that a number was verified. Anyone can check it with our JWKS. */
export function createProofSigner(sign: JwsSigner, signingKeys: SigningKeys, issuer: string, clock: Clock) {
  return async (claims: ProofClaims): Promise<string> => {
    const key = signingKeyAt(signingKeys.loaded() ?? (await signingKeys.load()), clock.nowMs());
    if (key === undefined) throw unavailable('No signing key is ready. Try again shortly.');
    const said = {
      iss: issuer,
      aud: claims.applicationId,
      sub: claims.verificationId,
      phone_number: claims.phoneNumber,
      phone_number_verified: true,
      amr: claims.amr,
      ...(claims.assurance !== undefined && { assurance: claims.assurance }),
      ...(claims.payment !== undefined && { payment: claims.payment }),
      iat: Math.floor(claims.approvedAtMs / 1000),
      exp: Math.floor(claims.expiresAtMs / 1000),
      // One approval has one proof id, however often the proof is read.
      jti: `proof_${claims.verificationId}`,
    };
    return sign(key, proofType, JSON.stringify(said));
  };
}
