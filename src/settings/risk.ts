import { isOwnHost } from './own-host.ts';

/** The operator's risk check (docs/operations.md). */
export interface RiskSettings {
  url: string;
  preset: 'json' | 'camara-sim-swap';
  /** SIM Swap: how far back a change counts. */
  maxAgeHours: number;
  /** The `Authorization` header as it is sent. */
  authorization: string | undefined;
  credentials: { tokenUrl: string; clientId: string; clientSecret: string; scope: string } | undefined;
  onFailure: 'allow' | 'block';
}

/** What the environment says; an absent variable is undefined. */
export interface GivenRisk {
  HELIOGRAPH_RISK_URL: string | undefined;
  HELIOGRAPH_RISK_PRESET: RiskSettings['preset'];
  HELIOGRAPH_RISK_MAX_AGE_HOURS: number;
  HELIOGRAPH_RISK_AUTHORIZATION: string | undefined;
  HELIOGRAPH_RISK_TOKEN_URL: string | undefined;
  HELIOGRAPH_RISK_CLIENT_ID: string | undefined;
  HELIOGRAPH_RISK_CLIENT_SECRET: string | undefined;
  HELIOGRAPH_RISK_SCOPE: string;
  HELIOGRAPH_RISK_ON_FAILURE: RiskSettings['onFailure'];
}

const ofClient = ['HELIOGRAPH_RISK_TOKEN_URL', 'HELIOGRAPH_RISK_CLIENT_ID', 'HELIOGRAPH_RISK_CLIENT_SECRET'] as const;

/** Undefined where no check is configured. */
export function riskSettings(given: GivenRisk): RiskSettings | undefined {
  const url = given.HELIOGRAPH_RISK_URL;
  if (url === undefined) return undefined;
  const [tokenUrl, clientId, clientSecret] = ofClient.map((name) => given[name]);
  const hasClient = tokenUrl !== undefined && clientId !== undefined && clientSecret !== undefined;
  return {
    url,
    preset: given.HELIOGRAPH_RISK_PRESET,
    maxAgeHours: given.HELIOGRAPH_RISK_MAX_AGE_HOURS,
    authorization: given.HELIOGRAPH_RISK_AUTHORIZATION,
    credentials: hasClient ? { tokenUrl, clientId, clientSecret, scope: given.HELIOGRAPH_RISK_SCOPE } : undefined,
    onFailure: given.HELIOGRAPH_RISK_ON_FAILURE,
  };
}

export function riskProblems(given: Partial<GivenRisk>, environment: string): string[] {
  const problems: string[] = [];
  const set = ofClient.filter((name) => given[name] !== undefined);
  const missing = ofClient.filter((name) => given[name] === undefined);
  if (given.HELIOGRAPH_RISK_URL === undefined) {
    const others = [...set, 'HELIOGRAPH_RISK_AUTHORIZATION' as const].filter((name) => given[name] !== undefined);
    problems.push(...others.map((name) => `${name} must not be set without HELIOGRAPH_RISK_URL`));
  } else if (set.length > 0 && missing.length > 0)
    problems.push(`${missing.join(' and ')} must be set with ${set.join(' and ')}`);
  if (set.length > 0 && given.HELIOGRAPH_RISK_AUTHORIZATION !== undefined)
    problems.push(`HELIOGRAPH_RISK_AUTHORIZATION must not be set with ${set.join(' and ')}: use one of the two`);
  for (const name of ['HELIOGRAPH_RISK_URL', 'HELIOGRAPH_RISK_TOKEN_URL'] as const) {
    const problem = addressProblem(given[name], environment);
    if (problem !== undefined) problems.push(`${name} must ${problem}`);
  }
  return problems;
}

/** Numbers and a secret go there, so in production they leave the operator's own network only by TLS. */
function addressProblem(text: string | undefined, environment: string): string | undefined {
  if (text === undefined) return undefined;
  const { protocol, hostname, username, password, hash } = new URL(text);
  if (username + password + hash !== '') return 'have no user, no password and no fragment in it';
  return protocol === 'https:' || environment === 'sandbox' || isOwnHost(hostname)
    ? undefined
    : 'begin with https:// in production, unless its host is a loopback or private address';
}
