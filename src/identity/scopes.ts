import type { Api, Scope } from '../http/route.ts';

export type TokenApi = Exclude<Api, 'sms'>;

const apiOfScope: Record<Scope, TokenApi> = { 'verify:manage': 'verify', 'messaging:send': 'messaging' };

export const apiScopes = Object.keys(apiOfScope) as Scope[];

/** A client may put any number of spaces between two words, and this is more than any of them does. */
export const longestScope = 4096;

/**
 * `openid` and exactly one scope of an API, in any order, with any run of spaces around them. The API's scope decides what
 * the token opens.
 */
export function readScope(text: string | undefined): { scope: Scope; api: TokenApi } | undefined {
  if (text === undefined || text.length > longestScope) return undefined;
  const words = text.split(' ').filter((word) => word !== '');
  if (words.length !== 2 || !words.includes('openid')) return undefined;
  const scope = apiScopes.find((candidate) => words.includes(candidate));
  return scope === undefined ? undefined : { scope, api: apiOfScope[scope] };
}

/** The scopes of a token. Those of an API are the very strings that routes ask for, and so are compared at a glance. */
export function scopesOf(text: string): string[] {
  return text.split(' ').map((word) => apiScopes.find((scope) => scope === word) ?? word);
}

/** What a token's `aud` says: the one API it opens. */
export function audienceOf(api: TokenApi): string {
  return `urn:heliograph:${api}`;
}

export function apiOfAudience(audience: unknown): TokenApi | undefined {
  return Object.values(apiOfScope).find((api) => audienceOf(api) === audience);
}
