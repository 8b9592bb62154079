import type { Api } from '../http/route.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { keyedHash } from '../platform/crypto/secrets.ts';

/** Who said it: the person by a text, the application, the carrier by refusing a text, a page, an operator. */
export type OptOutSource = 'mo' | 'api' | 'carrier' | 'portal' | 'operator';
// The store writes these names as their place in the list, so new ones go to the end.
export const optOutSources: readonly OptOutSource[] = ['mo', 'api', 'carrier', 'portal', 'operator'];

export type ScopeKind = 'sender' | 'application';
export const scopeKinds: readonly ScopeKind[] = ['sender', 'application'];

/** What a person does not want texts of. */
export interface Scope {
  kind: ScopeKind;
  /** A sender as `senderScope` writes it, or the id of an application. */
  subject: string;
}

/** One sender for all spellings of a number or a name: carriers compare names without regard to case. */
export function senderScope(sender: string): Scope {
  const isNumber = /^\+?[0-9]+$/.test(sender);
  return { kind: 'sender', subject: isNumber ? sender.replace('+', '') : sender.toLowerCase() };
}

export function applicationScope(applicationId: string): Scope {
  return { kind: 'application', subject: applicationId };
}

/** The application that is told when a scope changes, and the API in whose events it is told. */
export interface Told {
  applicationId: string;
  api: Api;
}

export interface ToldScope extends Scope {
  told: Told | null;
}

export interface OptOut extends Scope {
  id: string;
  /** Masked after the retention time. */
  number: string;
  source: OptOutSource;
  word: string | null;
  createdAtMs: number;
}

/** Hashes of a number: a stolen table must not tell who has opted out. */
export interface NumberHashes {
  /** For new rows. */
  newest(number: string): Buffer;
  /** One for each version of the ring, since a row keeps the one it was made with. */
  all(number: string): Buffer[];
}

export function createNumberHashes(keys: KeyRing): NumberHashes {
  const hash = (number: string, version: number) => keyedHash(keys.keyFor('opt-out', version), number);
  return {
    newest: (number) => hash(number, keys.version),
    all: (number) => keys.versions.map((version) => hash(number, version)),
  };
}
