import type { Hook } from '../api/types.ts';
import { words } from '../words/integrations.tsx';

export type HookKind = Hook['kind'];

/** In the order of the choice. */
export const hookKinds = Object.keys(words.kinds) as HookKind[];

/** Its name within a sentence. */
export const nameOf = (kind: HookKind) => (kind === 'generic' ? words.inside : words.kinds[kind].title);

/** Its payloads may come without a code, and are then sent as texts, which need a sender. */
export const mayComeWithoutCode = (kind: HookKind) =>
  ['keycloak', 'auth0', 'zitadel', 'kratos', 'generic'].includes(kind);

/** It makes its signing key itself. */
export const makesOwnKey = (kind: HookKind) => kind === 'zitadel';

/** The API whose registration a call with a code, or else with a text, counts on. */
export function apiOf({ kind, pointers }: Pick<Hook, 'kind' | 'pointers'>): 'verify' | 'sms' {
  const onlyTexts = kind === 'keycloak' || kind === 'generic';
  return onlyTexts && pointers?.code === undefined ? 'sms' : 'verify';
}
