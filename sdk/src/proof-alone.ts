export { ConnectionError, HeliographError, SignatureError } from './errors.ts';
export type { Proof, ProofPayment } from './proof.ts';
export { type VerifyProofAloneOptions, verifyProof } from './verify-proof.ts';
