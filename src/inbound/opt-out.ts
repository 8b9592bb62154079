// Tests: test/races/opt-outs.test.ts, test/contract/inbound.test.ts
import type { Api } from '../http/route.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { keyedHash } from '../platform/crypto/secrets.ts';

/** The source: the person by a text, the application, the carrier by refusing a text, a page, an operator. */
export type OptOutSource = 'mo' | 'api' | 'carrier' | 'portal' | 'operator';
// The store writes the index of these names, so new ones go to the end.
export const optOutSources: readonly OptOutSource[] = ['mo', 'api', 'carrier', 'portal', 'operator'];

export type ScopeKind = 'sender' | 'application';
export const scopeKinds: readonly ScopeKind[] = ['sender', 'application'];

/** The sender or application that a person does not want texts from. */
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

/** The application that gets an event when a scope changes, and the API of that event. */
export interface Notified {
  applicationId: string;
  api: Api;
}

export interface NotifiedScope extends Scope {
  notified: Notified | null;
}

export interface OptOut extends Scope {
  id: string;
  /** Masked after the retention time. */
  number: string;
  source: OptOutSource;
  word: string | null;
  createdAtMs: number;
}

/** Hashes of a number: a stolen table must not show who has opted out. */
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
