import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from './settings.ts';

const base = {
  HELIOGRAPH_SSO_ISSUER: 'https://login.example.com/realms/acme',
  HELIOGRAPH_SSO_CLIENT_ID: 'heliograph',
  HELIOGRAPH_SSO_CLIENT_SECRET: 'secret',
};

test('single sign-on is off without its settings, and reads claims and values', () => {
  assert.equal(readConfig({}).sso, undefined);
  const HELIOGRAPH_SSO_OPERATORS = 'realm_access.roles=admin, sms ';
  const { sso } = readConfig({ ...base, HELIOGRAPH_SSO_OPERATORS, HELIOGRAPH_SSO_MFA: 'mfa,otp' });
  assert.deepEqual(sso, {
    ...{ issuer: base.HELIOGRAPH_SSO_ISSUER, clientId: 'heliograph', clientSecret: 'secret' },
    operators: { claim: 'realm_access.roles', values: ['admin', 'sms'] },
    ...{ mfa: ['mfa', 'otp'], only: false },
  });
});

test('what is missing or makes no sense alone is named', () => {
  const problem = (env: Record<string, string>, expected: RegExp) => assert.throws(() => readConfig(env), expected);
  problem({ HELIOGRAPH_SSO_ONLY: 'true' }, /HELIOGRAPH_SSO_ONLY must come with HELIOGRAPH_SSO_ISSUER/);
  problem({ HELIOGRAPH_SSO_ISSUER: base.HELIOGRAPH_SSO_ISSUER }, /HELIOGRAPH_SSO_CLIENT_ID must be set with/);
  for (const wrong of ['admins', '=admins', 'groups=', 'groups= ,'])
    problem({ ...base, HELIOGRAPH_SSO_OPERATORS: wrong }, /HELIOGRAPH_SSO_OPERATORS must be a claim and its values/);
  const production = { ...base, HELIOGRAPH_ENV: 'production', HELIOGRAPH_SECRET: 'x' };
  problem({ ...production, HELIOGRAPH_SSO_ISSUER: 'http://login.example.com' }, /must begin with https:/);
});
