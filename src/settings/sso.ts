import type { Environment } from '../platform/environment.ts';
import type { Setting } from './kinds.ts';
import { isOwnHost } from './own-host.ts';

/** How people sign in at the provider of their company, and what its claims mean. */
export interface SsoSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** A session whose claim has one of these values has the rights of an operator; undefined if claims give none. */
  operators: ClaimValues | undefined;
  /** An operator needs one of these as `acr` or in `amr`. Empty: our second factor instead. */
  mfa: string[];
  /** Passwords open nothing. */
  only: boolean;
}

export interface ClaimValues {
  claim: string;
  values: string[];
}

export function claimValues(help: string): Setting<ClaimValues> {
  return {
    help,
    fallback: undefined,
    read: (text) => {
      const equals = text.indexOf('=');
      const claim = text.slice(0, Math.max(equals, 0)).trim();
      const values = listOf(text.slice(equals + 1));
      if (claim === '' || values.length === 0)
        throw new Error('be a claim and its values, like groups=operators,admins');
      return { claim, values };
    },
  };
}

interface Given {
  HELIOGRAPH_ENV: Environment;
  HELIOGRAPH_SSO_ISSUER: string | undefined;
  HELIOGRAPH_SSO_CLIENT_ID: string | undefined;
  HELIOGRAPH_SSO_CLIENT_SECRET: string | undefined;
  HELIOGRAPH_SSO_OPERATORS: ClaimValues | undefined;
  HELIOGRAPH_SSO_MFA: string | undefined;
  HELIOGRAPH_SSO_ONLY: 'true' | 'false';
}

/** Settings that make no sense without the others. */
export function ssoProblems(given: Given): string[] {
  const { HELIOGRAPH_SSO_ISSUER: issuer, HELIOGRAPH_SSO_CLIENT_ID, HELIOGRAPH_SSO_CLIENT_SECRET } = given;
  const needed = { HELIOGRAPH_SSO_CLIENT_ID, HELIOGRAPH_SSO_CLIENT_SECRET };
  if (issuer === undefined) {
    const { HELIOGRAPH_SSO_OPERATORS, HELIOGRAPH_SSO_MFA, HELIOGRAPH_SSO_ONLY } = given;
    const only = HELIOGRAPH_SSO_ONLY === 'true' ? true : undefined;
    const others = { ...needed, HELIOGRAPH_SSO_OPERATORS, HELIOGRAPH_SSO_MFA, HELIOGRAPH_SSO_ONLY: only };
    const lone = Object.entries(others).find(([, value]) => value !== undefined);
    return lone === undefined ? [] : [`${lone[0]} must come with HELIOGRAPH_SSO_ISSUER`];
  }
  const problems = Object.entries(needed)
    .filter(([, value]) => value === undefined)
    .map(([name]) => `${name} must be set with HELIOGRAPH_SSO_ISSUER`);
  const { protocol, hostname } = new URL(issuer);
  if (protocol === 'http:' && given.HELIOGRAPH_ENV === 'production' && !isOwnHost(hostname))
    problems.push('HELIOGRAPH_SSO_ISSUER must begin with https:// in production');
  return problems;
}

export function readSso(given: Given): SsoSettings | undefined {
  const { HELIOGRAPH_SSO_ISSUER: issuer, HELIOGRAPH_SSO_CLIENT_ID: clientId } = given;
  const { HELIOGRAPH_SSO_CLIENT_SECRET: clientSecret } = given;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return {
    ...{ issuer, clientId, clientSecret, operators: given.HELIOGRAPH_SSO_OPERATORS },
    mfa: listOf(given.HELIOGRAPH_SSO_MFA ?? ''),
    only: given.HELIOGRAPH_SSO_ONLY === 'true',
  };
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
}
