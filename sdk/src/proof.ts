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
  /** How the number was verified (RFC 8176), like `["otp", "sms"]`. */
  amr?: string[];
  /** The assurance profile whose every rule held, like `nist-800-63b-4`. */
  assurance?: string;
  /** The payment that the person confirmed. */
  payment?: ProofPayment;
}

export interface ProofPayment {
  amount: string;
  currency: string;
  payee: string;
}

export interface VerifyProofOptions {
  /** The id of your application: a proof for another one is refused. */
  audience: string;
  /** The payment that is about to be made: a proof for another payment, or for none, is refused. */
  payment?: ProofPayment | undefined;
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

  async verify(proof: string, { audience, payment, nowMs = Date.now() }: VerifyProofOptions): Promise<Proof> {
    if (typeof audience !== 'string' || audience === '')
      throw new TypeError('audience must be the id of your application.');
    if (typeof proof !== 'string' || proof.length > longestProof) throw notAProof();
    if (payment !== undefined) checkPayment(payment);
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
    if (payment !== undefined && !isPayment(said.payment, payment))
      throw new SignatureError('The proof is for another payment, or for none.');
    return said as unknown as Proof;
  }
}

/** A number would lose digits, and an empty payment would compare equal to nothing. */
function checkPayment({ amount, currency, payee }: ProofPayment): void {
  if (typeof amount !== 'string' || !/^[0-9]{1,12}(\.[0-9]{1,3})?$/.test(amount))
    throw new TypeError('payment.amount must be digits in a string, like "10.00".');
  if (typeof currency !== 'string' || typeof payee !== 'string')
    throw new TypeError('payment must have amount, currency and payee.');
}

/** 10, 10.0 and 10.00 are the same amount. */
function isPayment(said: unknown, { amount, currency, payee }: ProofPayment): boolean {
  if (!isObject(said) || typeof said.amount !== 'string') return false;
  return said.currency === currency && said.payee === payee && plainAmount(said.amount) === plainAmount(amount);
}

function plainAmount(amount: string): string {
  const [whole = '', part = ''] = amount.split('.');
  return `${whole.replace(/^0+(?=.)/, '')}.${part.replace(/0+$/, '')}`;
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
    // Refused below, like any other text that is not a proof.
  }
  throw notAProof();
}

function notAProof(): SignatureError {
  return new SignatureError('This is not a proof of a number.');
}
