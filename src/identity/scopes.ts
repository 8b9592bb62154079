import type { Api, Scope } from '../http/route.ts';

export type TokenApi = Exclude<Api, 'sms'>;

const apiOfScope: Record<Scope, TokenApi> = { 'verify:manage': 'verify', 'messaging:send': 'messaging' };

export const apiScopes = Object.keys(apiOfScope) as Scope[];

/** A client may send any number of spaces between words; no real client sends this many. */
export const longestScope = 4096;

/**
 * Reads `openid` and exactly one API scope, in any order, with any number of spaces. The API scope decides which API
 * the token opens.
 */
export function readScope(text: string | undefined): { scope: Scope; api: TokenApi } | undefined {
  if (text === undefined || text.length > longestScope) return undefined;
  const words = text.split(' ').filter((word) => word !== '');
  if (words.length !== 2 || !words.includes('openid')) return undefined;
  const scope = apiScopes.find((candidate) => words.includes(candidate));
  return scope === undefined ? undefined : { scope, api: apiOfScope[scope] };
}

/** Reads a token's scopes. API scopes become the same string objects that routes use, so comparing them is fast. */
export function scopesOf(text: string): string[] {
  return text.split(' ').map((word) => apiScopes.find((scope) => scope === word) ?? word);
}

/** A token's `aud`: the one API that it opens. */
export function audienceOf(api: TokenApi): string {
  return `urn:heliograph:${api}`;
}

export function apiOfAudience(audience: unknown): TokenApi | undefined {
  return Object.values(apiOfScope).find((api) => audienceOf(api) === audience);
}
