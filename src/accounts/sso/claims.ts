import type { SsoSettings } from '../../settings/sso.ts';

/** Claims of the provider, whose types nothing guarantees. */
export type Claims = Record<string, unknown>;

/** More values of a claim than this are not looked at. */
const mostValues = 1000;

export function isOperatorBy(claims: Claims, operators: SsoSettings['operators']): boolean | undefined {
  if (operators === undefined) return false;
  const value = valueAt(claims, operators.claim);
  if (value === undefined) return undefined;
  const given = Array.isArray(value) ? value.slice(0, mostValues) : [value];
  return given.some((each) => typeof each === 'string' && operators.values.includes(each));
}

/** A claim by its name, or by a path such as `realm_access.roles`. */
function valueAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

export function hasMfa({ acr, amr }: Claims, mfa: string[]): boolean {
  const methods = Array.isArray(amr) ? amr.slice(0, mostValues) : [];
  return [acr, ...methods].some((each) => typeof each === 'string' && mfa.includes(each));
}
