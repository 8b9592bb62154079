import { isObject } from './errors.ts';
import { exchange, requireSuccess, type Wire } from './exchange.ts';
import { retryAfterMs } from './retry.ts';
import { nowMs, sleep } from './waiting.ts';

/** A public key and its only algorithm. */
export interface PublicKey {
  name: string;
  key: CryptoKey;
  verify: AlgorithmIdentifier | EcdsaParams;
}

interface Known {
  issuer: string;
  keys: Map<string, PublicKey>;
  readAtMs: number;
}

/** The cache time that the service allows. A withdrawn key is dropped after it. */
const keptMs = 300_000;
/** Minimum time between fetches for proofs with an unknown key. */
const lookAgainMs = 10_000;

/** The service's public keys, fetched on demand and cached. */
export class ProofKeys {
  readonly #wire: Wire;
  readonly #realmUrl: string;
  #known: Known | undefined;
  #asked: Promise<Known> | undefined;

  constructor(wire: Wire, realmUrl: string) {
    this.#wire = wire;
    this.#realmUrl = realmUrl;
  }

  async find(id: unknown): Promise<{ key: PublicKey | undefined; issuer: string }> {
    const name = typeof id === 'string' ? id : '';
    const known = this.#isGoodFor(name) ?? (await this.#look());
    return { key: known.keys.get(name), issuer: known.issuer };
  }

  #isGoodFor(name: string): Known | undefined {
    if (this.#known === undefined) return undefined;
    const ageMs = nowMs() - this.#known.readAtMs;
    return ageMs < (this.#known.keys.has(name) ? keptMs : lookAgainMs) ? this.#known : undefined;
  }

  /** One fetch for all waiting proofs. */
  #look(): Promise<Known> {
    if (this.#asked !== undefined) return this.#asked;
    const asked = this.#readAll();
    this.#asked = asked;
    const done = () => {
      this.#asked = undefined;
    };
    asked.then(done, done);
    return asked;
  }

  async #readAll(): Promise<Known> {
    const [about, set] = await Promise.all([
      this.#read('/.well-known/openid-configuration'),
      this.#read('/protocol/openid-connect/certs'),
    ]);
    if (typeof about.issuer !== 'string' || !Array.isArray(set.keys))
      throw new TypeError('The server at this address is not Heliograph: check baseUrl and realm.');
    const entries = await Promise.all(set.keys.filter(isObject).map(importKey));
    this.#known = { issuer: about.issuer, keys: new Map(entries.flatMap((entry) => entry ?? [])), readAtMs: nowMs() };
    return this.#known;
  }

  async #read(path: string): Promise<Record<string, unknown>> {
    for (let retries = 0; ; retries++) {
      try {
        const answer = await exchange(this.#wire, this.#realmUrl + path, { method: 'GET', headers: {} });
        const body = requireSuccess(answer);
        return isObject(body) ? body : {};
      } catch (error) {
        const waitMs = retryAfterMs({ error, retries, repeatable: true }, Math.random());
        if (waitMs === undefined) throw error;
        await sleep(waitMs, undefined);
      }
    }
  }
}

/** The key decides the algorithm, never the proof. Keys of other kinds are ignored. */
async function importKey(jwk: Record<string, unknown>): Promise<[string, PublicKey][] | undefined> {
  const { kid, kty, crv, x, y, n, e } = jwk;
  if (typeof kid !== 'string') return undefined;
  if (kty === 'EC' && crv === 'P-256') {
    const given = { kty, crv, x, y } as JsonWebKey;
    const key = await crypto.subtle.importKey('jwk', given, { name: 'ECDSA', namedCurve: crv }, false, ['verify']);
    return [[kid, { name: 'ES256', key, verify: { name: 'ECDSA', hash: 'SHA-256' } }]];
  }
  if (kty === 'RSA') {
    const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('jwk', { kty, n, e } as JsonWebKey, algorithm, false, ['verify']);
    return [[kid, { name: 'RS256', key, verify: { name: algorithm.name } }]];
  }
  return undefined;
}
