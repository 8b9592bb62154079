import { encodeText, fromBase64 } from './encoding.ts';
import { isObject, SignatureError } from './errors.ts';
import type { Wire } from './exchange.ts';
import { ProofKeys, type PublicKey } from './proof-keys.ts';

/** The content of a proof that a number was verified. */
export interface Proof {
  iss: string;
  /** The application's id. */
  aud: string;
  /** The verification's id. */
  sub: string;
  phone_number: string;
  phone_number_verified: true;
  iat: number;
  exp: number;
  jti: string;
}

export interface VerifyProofOptions {
  /** The id of your application: a proof for another one is refused. */
  audience: string;
  nowMs?: number | undefined;
}

/** A proof of the service has about 600 characters. */
const longestProof = 4096;

/** Checks proofs of numbers with the service's public keys. */
export class Proofs {
  readonly #keys: ProofKeys;

  constructor(wire: Wire, realmUrl: string) {
    this.#keys = new ProofKeys(wire, realmUrl);
  }

  async verify(proof: string, { audience, nowMs = Date.now() }: VerifyProofOptions): Promise<Proof> {
    if (typeof audience !== 'string' || audience === '')
      throw new TypeError('audience must be the id of your application.');
    if (typeof proof !== 'string' || proof.length > longestProof) throw notAProof();
    const [head = '', claims = '', signature = '', ...rest] = proof.split('.');
    const header = readPart(head);
    const said = readPart(claims);
    if (rest.length > 0 || header.typ !== 'phone-proof+jwt') throw notAProof();
    const { key, issuer } = await this.#keys.find(header.kid);
    if (key === undefined || key.name !== header.alg)
      throw new SignatureError('The proof was signed with an unknown key.');
    if (!(await isSignedBy(key, signature, `${head}.${claims}`)))
      throw new SignatureError('The signature of the proof is wrong.');
    if (said.iss !== issuer) throw new SignatureError('The proof is from another service.');
    if (said.aud !== audience) throw new SignatureError('The proof is for another application.');
    if (typeof said.exp !== 'number' || !(nowMs < said.exp * 1000)) throw new SignatureError('The proof has expired.');
    if (said.phone_number_verified !== true || typeof said.phone_number !== 'string') throw notAProof();
    return said as unknown as Proof;
  }
}

function isSignedBy(key: PublicKey, signature: string, text: string): Promise<boolean> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = fromBase64(signature);
  } catch {
    return Promise.resolve(false);
  }
  return crypto.subtle.verify(key.verify, key.key, bytes, encodeText(text));
}

function readPart(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(fromBase64(text)));
    if (isObject(value)) return value;
  } catch {
    // Said below.
  }
  throw notAProof();
}

function notAProof(): SignatureError {
  return new SignatureError('This is not a proof of a number.');
}
