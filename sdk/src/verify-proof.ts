import type { Wire } from './exchange.ts';
import { checkTimeout, readBaseUrl } from './options.ts';
import { type Proof, Proofs, type VerifyProofOptions } from './proof.ts';

export interface VerifyProofAloneOptions extends VerifyProofOptions {
  /** The address of the service, such as `https://sms.example.com`. Its public keys are read there and cached. */
  baseUrl: string;
  realm?: string | undefined;
  /** For one attempt to read the keys; default 30 seconds. */
  timeoutMs?: number | undefined;
  fetch?: typeof fetch | undefined;
}

/** More services than a program uses. Made-up addresses must not fill the memory. */
const mostKept = 100;
/** The keys of each service, for each fetch function. */
const kept = new WeakMap<typeof fetch, Map<string, Proofs>>();

/** Checks a proof that a number was verified for your application, and returns its content. It needs no credential. */
export async function verifyProof(proof: string, options: VerifyProofAloneOptions): Promise<Proof> {
  const { audience, payment, nowMs } = options;
  return proofsOf(options).verify(proof, { audience, payment, nowMs });
}

function proofsOf({ baseUrl, realm = 'heliograph', timeoutMs = 30_000, fetch: send = fetch }: VerifyProofAloneOptions) {
  const realmUrl = `${readBaseUrl(baseUrl)}/realms/${encodeURIComponent(realm)}`;
  const services = kept.get(send) ?? new Map<string, Proofs>();
  kept.set(send, services);
  const key = `${checkTimeout(timeoutMs)} ${realmUrl}`;
  const known = services.get(key);
  if (known !== undefined) return known;
  const wire: Wire = { fetch: (...given) => send(...given), timeoutMs, userAgent: undefined };
  const made = new Proofs(wire, realmUrl);
  if (services.size >= mostKept) services.clear();
  services.set(key, made);
  return made;
}
