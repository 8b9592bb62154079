export { ConnectionError, HeliographError, SignatureError } from './errors.ts';
export type { Proof } from './proof.ts';
export { type VerifyProofAloneOptions, verifyProof } from './verify-proof.ts';
