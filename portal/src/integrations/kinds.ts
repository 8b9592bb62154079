import type { Hook } from '../api/types.ts';
import { words } from '../words/integrations.tsx';

export type HookKind = Hook['kind'];

/** In the order of the choice. */
export const hookKinds = Object.keys(words.kinds) as HookKind[];

/** The name of the server within a sentence. */
export const nameOf = (kind: HookKind) => (kind === 'generic' ? words.inside : words.kinds[kind].title);

/** Whether payloads of this server may come without a code: they are sent as texts, which need a sender. */
export const mayComeWithoutCode = (kind: HookKind) =>
  ['keycloak', 'auth0', 'zitadel', 'kratos', 'generic'].includes(kind);

/** Whether the server makes its signing key itself. */
export const makesOwnKey = (kind: HookKind) => kind === 'zitadel';

/** The API that the application must be registered for: calls with a code need `verify`, texts without one `sms`. */
export function apiOf({ kind, pointers }: Pick<Hook, 'kind' | 'pointers'>): 'verify' | 'sms' {
  const onlyTexts = kind === 'keycloak' || kind === 'generic';
  return onlyTexts && pointers?.code === undefined ? 'sms' : 'verify';
}
