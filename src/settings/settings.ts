import { resolve } from 'node:path';
import type { Environment } from '../platform/environment.ts';
import { StartError } from '../platform/errors.ts';
import { isObject } from '../platform/is-object.ts';
import type { TracingSettings } from '../platform/tracing/tracer.ts';
import {
  baseUrl,
  cidrs,
  countOrAuto,
  databaseUrl,
  explained,
  integer,
  jsonObject,
  oneOf,
  redisUrl,
  type Setting,
  text,
  url,
} from './kinds.ts';
import { isOwnHost } from './own-host.ts';
import { type GivenRisk, type RiskSettings, riskProblems, riskSettings } from './risk.ts';
import { claimValues, readSso, type SsoSettings, ssoProblems } from './sso.ts';
import { pairs, ratio, samplerNames, tracingOf } from './tracing.ts';

export type PlanName = 'free' | 'pro' | 'enterprise';
export interface PlanLimits {
  perMinute: number;
  burst: number;
}
export type Plans = Record<PlanName, PlanLimits>;

/** Fields of `HELIOGRAPH_GUARD`; a missing field keeps its default. */
export interface GuardSettings {
  countries?: string[];
  blocked?: string[];
  per_number?: number;
  per_prefix?: number;
  number_types?: string[];
}

const defaultPlans: Plans = {
  free: { perMinute: 60, burst: 60 },
  pro: { perMinute: 600, burst: 200 },
  enterprise: { perMinute: 6000, burst: 2000 },
};

/** All settings. `npm run docs` writes `.env.example` and docs/settings.md from them. */
export const settings = {
  PORT: integer('port to listen on', 8080, 1, 65535),
  HOST: text('address to listen on', '127.0.0.1'),
  HELIOGRAPH_ENV: explained(oneOf('environment', ['sandbox', 'production']), {
    more: 'The sandbox approves every registration at once, and no text leaves the machine.',
  }),
  HELIOGRAPH_DATA_DIR: text('folder of the embedded Postgres and the generated secret', '.heliograph'),
  HELIOGRAPH_PUBLIC_URL: explained(baseUrl('base URL of the issuer and of links; http://HOST:PORT when unset'), {
    unset: '`http://HOST:PORT`',
  }),
  HELIOGRAPH_REALM: text(
    'name of the realm in the identity paths',
    'heliograph',
    /^[A-Za-z0-9_-]{1,64}$/,
    'be 1 to 64 letters, digits, - or _',
  ),
  HELIOGRAPH_SECRET: explained(
    text(
      'master secret that opens the key ring; generated in the sandbox, required in production',
      undefined,
      /^.{16,}$/s,
      'have at least 16 characters',
    ),
    {
      unset: 'generated in the sandbox',
      more: 'At least 16 characters. Key hashes, codes and wrapped signing keys derive from the ring. The start fails if the secret cannot open it.',
    },
  ),
  HELIOGRAPH_SECRET_PREVIOUS: explained(
    text(
      'old secret; at start the service wraps the key ring again with HELIOGRAPH_SECRET',
      undefined,
      /^.{16,}$/s,
      'have at least 16 characters',
    ),
    { more: 'Set it once, together with a new `HELIOGRAPH_SECRET`, to change the secret.' },
  ),
  DATABASE_URL: explained(databaseUrl('an existing Postgres instead of the embedded one; several hosts by commas'), {
    unset: 'embedded',
    more: 'Of several hosts the one that takes writes is found and followed ([operations.md](operations.md#several-machines)).',
  }),
  REDIS_URL: explained(redisUrl('Redis or Valkey shared by several nodes'), {
    more: '`redis+sentinel://s1:26379,s2:26379/name` names Sentinels. Without it the service refuses to start as a second node on the same database.',
  }),
  HELIOGRAPH_ROLE: explained(oneOf('what this node does', ['all', 'web', 'worker']), {
    more: '`web` answers requests, `worker` delivers texts and answers only health and metrics, `all` does both.',
  }),
  HELIOGRAPH_PROCESSES: explained(
    countOrAuto('processes that answer requests on this node: 1, up to 64, or auto for one per core', 64),
    {
      more: 'A worker node always has one. Processes share the port, and limits stay exact ([operations.md](operations.md#all-cores-of-a-machine)).',
    },
  ),
  HELIOGRAPH_PLANS: explained(jsonObject('plan numbers, like {"free":{"per_minute":60,"burst":60}}', readPlans), {
    unset: 'free 60/min (60/s), pro 600 (200), enterprise 6000 (2000)',
    more: 'Each number from 1 to 1,000,000. A plan given without `burst` gets a third of its `per_minute`, rounded up, at least 60 and at most `per_minute`. It holds for a plan until an operator changes that plan in the portal.',
  }),
  HELIOGRAPH_ADDRESS_PER_MINUTE: integer('requests a minute from one address (IPv6: one /64)', 6000, 1, 1_000_000),
  HELIOGRAPH_ADDRESS_BURST: integer('requests a second from one address', 1000, 1, 1_000_000),
  HELIOGRAPH_TRUSTED_PROXIES: cidrs('proxies whose X-Forwarded-For the service trusts, like 10.0.0.0/8,::1'),
  HELIOGRAPH_TOKEN_SECONDS: integer('lifetime of an access token in seconds', 3600, 1, 86_400),
  HELIOGRAPH_TOKEN_ALG: oneOf('signature algorithm of access tokens', ['ES256', 'RS256']),
  HELIOGRAPH_RESEND_SECONDS: explained(
    integer('seconds before a code can be sent again; 2, in production 30', undefined, 0, 600),
    { unset: '2, in production 30' },
  ),
  HELIOGRAPH_GUARD: explained(
    jsonObject('fraud guard: countries, blocked, per_number, per_prefix, number_types', readGuard),
    {
      more: 'Production defaults: `per_number` 10 a day, `per_prefix` 50 an hour, `number_types` `MOBILE`, `FIXED_LINE_OR_MOBILE`, `UNKNOWN`. The `guard` of a file of [declared configuration](guides/gitops.md) overrides it.',
    },
  ),
  HELIOGRAPH_RISK_URL: explained(url('risk check that is asked before a code is sent', ['https:', 'http:']), {
    more: 'In production https, unless the host is a loopback or private address. Without an answer within 800 ms `HELIOGRAPH_RISK_ON_FAILURE` decides ([operations.md](operations.md#risk-check)).',
  }),
  HELIOGRAPH_RISK_PRESET: explained(oneOf('API of the risk check', ['json', 'camara-sim-swap']), {
    more: '`json` takes `{to, country, application_id}` and answers `{decision: "allow" or "block", reason}`. `camara-sim-swap` is CAMARA SIM Swap 2: the address of its root, or of its `/check`.',
  }),
  HELIOGRAPH_RISK_MAX_AGE_HOURS: integer('hours for which a change of the SIM counts (camara-sim-swap)', 240, 1, 2400),
  HELIOGRAPH_RISK_AUTHORIZATION: text(
    'Authorization header for the risk check, like "Bearer …"',
    undefined,
    /^[\x20-\x7e]{1,4096}$/,
    'have 1 to 4096 visible characters',
  ),
  HELIOGRAPH_RISK_TOKEN_URL: explained(
    url('token endpoint for the risk check (OAuth 2.0 client credentials)', ['https:', 'http:']),
    {
      more: 'Set it with `HELIOGRAPH_RISK_CLIENT_ID` and `HELIOGRAPH_RISK_CLIENT_SECRET` instead of `HELIOGRAPH_RISK_AUTHORIZATION`.',
    },
  ),
  HELIOGRAPH_RISK_CLIENT_ID: text('client id at that token endpoint'),
  HELIOGRAPH_RISK_CLIENT_SECRET: text('client secret at that token endpoint'),
  HELIOGRAPH_RISK_SCOPE: text('scope to ask for at that token endpoint', 'sim-swap:check'),
  HELIOGRAPH_RISK_ON_FAILURE: oneOf('what happens to a start when the risk check gives no answer', ['allow', 'block']),
  HELIOGRAPH_DELIVERY: oneOf('whether to send a plain text again when it may have been sent', [
    'at_least_once',
    'at_most_once',
  ]),
  HELIOGRAPH_SENDERS: oneOf('which senders production texts may have: those an operator approved, or any', [
    'approved',
    'open',
  ]),
  HELIOGRAPH_HTTP_LANE: oneOf(
    "what parses requests: the service's own parser, with Node's server for unusual ones, or Node's server alone",
    ['plain', 'node'],
  ),
  HELIOGRAPH_OPT_OUT_VERIFY: oneOf('whether people who opted out get no codes either', ['false', 'true']),
  HELIOGRAPH_RETENTION_DAYS: integer('days until numbers and texts are masked', 30, 1, 3650),
  // A text may be sent a week after it was accepted, be valid for three days, and have its receipt three days later.
  HELIOGRAPH_KEEP_DAYS: explained(integer('days until masked records are deleted', 365, 14, 36_500), {
    more: 'Not below `HELIOGRAPH_RETENTION_DAYS`. The record of a text that waits to be sent or for its receipt stays.',
  }),
  HELIOGRAPH_EVENT_DAYS: integer('days until events are deleted', 7, 1, 90),
  HELIOGRAPH_ALERT_URL: explained(
    url('where alerts for operators are posted, signed (the command alert-secret shows the secret)', [
      'https:',
      'http:',
    ]),
    { more: 'In production https, unless the host is a loopback or private address.' },
  ),
  HELIOGRAPH_PASSWORD_PER_MINUTE: explained(
    integer('sign-ups, sign-ins and password resets a minute from one address (IPv6: one /64)', 20, 1, 1_000_000),
    { more: 'Per node, all its processes together.' },
  ),
  HELIOGRAPH_OPERATOR_SECOND_FACTOR: {
    ...oneOf("operators' second factor: the portal asks for it, or the service requires it, as in production", [
      'asked',
      'required',
    ]),
    fallback: undefined,
    unset: '`asked`, in production `required`',
    more: "With `required`, operators' routes answer 403 without a second factor.",
  },
  HELIOGRAPH_SSO_ISSUER: explained(baseUrl('issuer of the OpenID Connect provider that people sign in at'), {
    more: 'In production https, unless the host is a loopback or private address. The callback to register there is `{public_url}/portal/v1/sso/callback`.',
  }),
  HELIOGRAPH_SSO_CLIENT_ID: text('client id of this service at the provider'),
  HELIOGRAPH_SSO_CLIENT_SECRET: text('client secret of this service at the provider'),
  HELIOGRAPH_SSO_OPERATORS: explained(
    claimValues('claim and values that make a session one of an operator, like groups=sms-operators,admins'),
    { more: 'A claim within another has dots: `realm_access.roles=operator`.' },
  ),
  HELIOGRAPH_SSO_MFA: explained(
    text('values of acr or amr, separated by commas: operators need one of them, like mfa,otp'),
    {
      unset: 'operators need the second factor of this service',
      more: 'Without one an operator cannot sign in by single sign-on.',
    },
  ),
  HELIOGRAPH_SSO_ONLY: explained(oneOf('whether single sign-on is the only way to sign in', ['false', 'true']), {
    more: 'Sessions opened with a password end, except those of operators. Links that `npm run operator` makes on the machine still work.',
  }),
  HELIOGRAPH_SMPP_PORT: explained(
    integer('port for programs that send through us by SMPP; none when unset', undefined, 1, 65535),
    { more: 'In production it takes only accounts with `addresses` ([guide](guides/smpp.md)).' },
  ),
  HELIOGRAPH_SMPP_TLS_PORT: integer('port for SMPP by TLS; none when unset', undefined, 1, 65535),
  HELIOGRAPH_SMPP_TLS_CERT: explained(text('file with the certificate of that port, and its chain, in PEM'), {
    more: 'A new file is in use after an hour at the latest.',
  }),
  HELIOGRAPH_SMPP_TLS_KEY: text('file with its private key in PEM'),
  HELIOGRAPH_METRICS_TOKEN: explained(
    text(
      'bearer token for /metrics; without it the sandbox answers loopback callers only, and production answers 404',
      undefined,
      /^[\x21-\x7e]{16,}$/,
      'have at least 16 visible characters',
    ),
    { more: 'At least 16 visible characters.' },
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: explained(
    baseUrl('collector of OpenTelemetry; traces go to <address>/v1/traces by OTLP over HTTP'),
    { unset: 'no traces', more: 'See [operations.md](operations.md#traces).' },
  ),
  OTEL_EXPORTER_OTLP_HEADERS: explained(
    pairs('headers for the collector, like authorization=Bearer%20…,x-tenant=a', 'headers'),
    { unset: 'none' },
  ),
  OTEL_SERVICE_NAME: explained(
    text('name of this service in traces', undefined, /^[^\p{Cc}]{1,255}$/u, 'have 1 to 255 characters'),
    { unset: '`service.name` of OTEL_RESOURCE_ATTRIBUTES, else `heliograph`' },
  ),
  OTEL_RESOURCE_ATTRIBUTES: explained(
    pairs('what every trace says of this node, like deployment.environment.name=production', 'attributes'),
    { unset: 'none' },
  ),
  OTEL_TRACES_SAMPLER: explained(oneOf('which requests are traced', samplerNames), {
    more: 'With `parentbased_…` the sampled flag in the `traceparent` of an identified caller decides: 10 traces a second each, shared out among the processes of all nodes. The rest of the name decides about all others.',
  }),
  OTEL_TRACES_SAMPLER_ARG: ratio,
  LOG_LEVEL: oneOf('lowest level that is logged', ['info', 'debug', 'trace', 'warn', 'error', 'fatal', 'silent']),
} satisfies Record<string, Setting<unknown>>;

/** What the command line reads: it may be in the environment from which a developer also starts the service. */
const clientSettings = [
  'HELIOGRAPH_URL',
  'HELIOGRAPH_API_KEY',
  'HELIOGRAPH_CLIENT_ID',
  'HELIOGRAPH_CLIENT_SECRET',
  'HELIOGRAPH_PROFILE',
];

export interface Config {
  port: number;
  host: string;
  environment: Environment;
  dataDir: string;
  publicUrl: string;
  realm: string;
  secret: string | undefined;
  previousSecret: string | undefined;
  databaseUrl: string | undefined;
  redisUrl: string | undefined;
  role: 'all' | 'web' | 'worker';
  /** How many processes answer requests. With 1 the node is one process. */
  processes: number;
  plans: Plans;
  addressLimits: PlanLimits;
  trustedProxies: string[];
  tokenSeconds: number;
  tokenAlg: 'ES256' | 'RS256';
  resendSeconds: number;
  guard: GuardSettings;
  /** Undefined without `HELIOGRAPH_RISK_URL`. */
  risk: RiskSettings | undefined;
  delivery: 'at_least_once' | 'at_most_once';
  senders: 'approved' | 'open';
  httpLane: 'plain' | 'node';
  optOutVerify: boolean;
  retentionDays: number;
  keepDays: number;
  eventDays: number;
  alertUrl: string | undefined;
  passwordPerMinute: number;
  operatorSecondFactor: 'asked' | 'required';
  /** Undefined without single sign-on. */
  sso: SsoSettings | undefined;
  /** Where programs that speak SMPP bind to us. */
  smpp: {
    port: number | undefined;
    tlsPort: number | undefined;
    tlsCert: string | undefined;
    tlsKey: string | undefined;
  };
  metricsToken: string | undefined;
  /** Undefined: no traces are made. */
  tracing: TracingSettings | undefined;
  logLevel: string;
}

/** Reads the environment. Reports all problems at once, so that one restart fixes them. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries<Setting<unknown>>(settings)) {
    // An empty variable counts as unset: compose files and CI systems leave a setting out that way.
    const given = env[name] === '' ? undefined : env[name];
    const source = given ?? setting.fallback;
    if (source === undefined) continue;
    try {
      values[name] = setting.read(source);
    } catch (error) {
      problems.push(`${name} must ${(error as Error).message}`);
    }
  }
  for (const name of Object.keys(env)) {
    const isKnown = Object.hasOwn(settings, name) || clientSettings.includes(name);
    if (name.startsWith('HELIOGRAPH_') && !isKnown) problems.push(unknownSetting(name));
  }

  const value = values as { [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]['read']> };
  if (value.HELIOGRAPH_ENV === 'production' && !env.HELIOGRAPH_SECRET) {
    problems.push('HELIOGRAPH_SECRET must be set in production (for example: openssl rand -base64 32)');
  }
  if (value.HELIOGRAPH_KEEP_DAYS < value.HELIOGRAPH_RETENTION_DAYS) {
    problems.push('HELIOGRAPH_KEEP_DAYS must not be below HELIOGRAPH_RETENTION_DAYS');
  }
  const { HELIOGRAPH_SMPP_TLS_PORT: tlsPort, HELIOGRAPH_SMPP_TLS_CERT: cert, HELIOGRAPH_SMPP_TLS_KEY: key } = value;
  if (tlsPort !== undefined && (cert === undefined || key === undefined))
    problems.push('HELIOGRAPH_SMPP_TLS_PORT must come with HELIOGRAPH_SMPP_TLS_CERT and HELIOGRAPH_SMPP_TLS_KEY');
  if (tlsPort !== undefined && tlsPort === value.HELIOGRAPH_SMPP_PORT)
    problems.push('HELIOGRAPH_SMPP_TLS_PORT must differ from HELIOGRAPH_SMPP_PORT');
  const alertProblem = alertUrlProblem(value.HELIOGRAPH_ALERT_URL, value.HELIOGRAPH_ENV);
  if (alertProblem !== undefined) problems.push(`HELIOGRAPH_ALERT_URL must ${alertProblem}`);
  problems.push(...riskProblems(value as GivenRisk, value.HELIOGRAPH_ENV));
  problems.push(...ssoProblems(value));
  if (problems.length > 0) throw new ConfigError(problems);

  return {
    port: value.PORT,
    host: value.HOST,
    environment: value.HELIOGRAPH_ENV,
    dataDir: resolve(value.HELIOGRAPH_DATA_DIR),
    publicUrl: value.HELIOGRAPH_PUBLIC_URL ?? `http://${bracketed(value.HOST)}:${value.PORT}`,
    realm: value.HELIOGRAPH_REALM,
    secret: value.HELIOGRAPH_SECRET,
    previousSecret: value.HELIOGRAPH_SECRET_PREVIOUS,
    databaseUrl: value.DATABASE_URL,
    redisUrl: value.REDIS_URL,
    role: value.HELIOGRAPH_ROLE,
    // A worker answers health checks only.
    processes: value.HELIOGRAPH_ROLE === 'worker' ? 1 : value.HELIOGRAPH_PROCESSES,
    plans: value.HELIOGRAPH_PLANS,
    addressLimits: { perMinute: value.HELIOGRAPH_ADDRESS_PER_MINUTE, burst: value.HELIOGRAPH_ADDRESS_BURST },
    trustedProxies: value.HELIOGRAPH_TRUSTED_PROXIES,
    tokenSeconds: value.HELIOGRAPH_TOKEN_SECONDS,
    tokenAlg: value.HELIOGRAPH_TOKEN_ALG,
    resendSeconds: value.HELIOGRAPH_RESEND_SECONDS ?? (value.HELIOGRAPH_ENV === 'production' ? 30 : 2),
    guard: value.HELIOGRAPH_GUARD,
    risk: riskSettings(value as GivenRisk),
    delivery: value.HELIOGRAPH_DELIVERY,
    senders: value.HELIOGRAPH_SENDERS,
    httpLane: value.HELIOGRAPH_HTTP_LANE,
    optOutVerify: value.HELIOGRAPH_OPT_OUT_VERIFY === 'true',
    retentionDays: value.HELIOGRAPH_RETENTION_DAYS,
    keepDays: value.HELIOGRAPH_KEEP_DAYS,
    // An event describes a record, so it is deleted with it at the latest.
    eventDays: Math.min(value.HELIOGRAPH_EVENT_DAYS, value.HELIOGRAPH_KEEP_DAYS),
    alertUrl: value.HELIOGRAPH_ALERT_URL,
    passwordPerMinute: value.HELIOGRAPH_PASSWORD_PER_MINUTE,
    operatorSecondFactor:
      value.HELIOGRAPH_OPERATOR_SECOND_FACTOR ?? (value.HELIOGRAPH_ENV === 'production' ? 'required' : 'asked'),
    sso: readSso(value),
    smpp: {
      port: value.HELIOGRAPH_SMPP_PORT,
      tlsPort: value.HELIOGRAPH_SMPP_TLS_PORT,
      tlsCert: value.HELIOGRAPH_SMPP_TLS_CERT,
      tlsKey: value.HELIOGRAPH_SMPP_TLS_KEY,
    },
    metricsToken: value.HELIOGRAPH_METRICS_TOKEN,
    tracing: tracingOf({
      endpoint: value.OTEL_EXPORTER_OTLP_ENDPOINT,
      headers: value.OTEL_EXPORTER_OTLP_HEADERS,
      serviceName: value.OTEL_SERVICE_NAME ?? value.OTEL_RESOURCE_ATTRIBUTES['service.name'] ?? 'heliograph',
      resource: value.OTEL_RESOURCE_ATTRIBUTES,
      sampler: value.OTEL_TRACES_SAMPLER,
      ratio: value.OTEL_TRACES_SAMPLER_ARG,
    }),
    logLevel: value.LOG_LEVEL,
  };
}

export class ConfigError extends StartError {
  readonly problems: string[];

  constructor(problems: string[]) {
    const count = problems.length === 1 ? '1 setting is' : `${problems.length} settings are`;
    super(`${count} invalid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

function unknownSetting(name: string): string {
  const near = Object.keys(settings).find((known) => known.startsWith('HELIOGRAPH_') && editDistance(known, name) <= 3);
  return `${name} is not a setting${near === undefined ? '' : ` (did you mean ${near}?)`}`;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Alerts name carriers and applications, so in production they leave the operator's own network only by TLS. */
function alertUrlProblem(text: string | undefined, environment: string): string | undefined {
  if (text === undefined) return undefined;
  const { protocol, hostname, username, password } = new URL(text);
  if (username + password !== '') return 'have no user and no password in it';
  const mayBePlain = environment === 'sandbox' || isOwnHost(hostname);
  return protocol === 'https:' || mayBePlain
    ? undefined
    : 'begin with https:// in production, unless its host is a loopback or private address';
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function readPlans(given: Record<string, unknown>): Plans {
  const plans = structuredClone(defaultPlans);
  const named = new Set<string>();
  for (const [text, numbers] of Object.entries(given)) {
    const name = text.toLowerCase();
    if (!Object.hasOwn(plans, name)) throw new Error(`only name the plans free, pro and enterprise, not ${text}`);
    if (named.has(name)) throw new Error(`name ${name} once`);
    named.add(name);
    if (!isObject(numbers)) throw new Error(`give ${name} as {"per_minute":…,"burst":…}`);
    for (const [field, number] of Object.entries(numbers)) {
      if (field !== 'per_minute' && field !== 'burst')
        throw new Error(`not set ${name}.${field}; its fields are per_minute and burst`);
      if (!isCount(number)) throw new Error(`give ${name}.${field} as a whole number from 1 to 1000000`);
    }
    const plan = plans[name as PlanName];
    const { per_minute: perMinute = plan.perMinute, burst = burstOf(perMinute as number) } = numbers;
    plans[name as PlanName] = { perMinute: perMinute as number, burst: burst as number };
  }
  return plans;
}

/** A third of `perMinute`, at least 60, so that a simple loop can reach the plan's promised number. */
function burstOf(perMinute: number): number {
  return Math.min(perMinute, Math.max(60, Math.ceil(perMinute / 3)));
}

function readGuard(given: Record<string, unknown>): GuardSettings {
  for (const [field, value] of Object.entries(given)) {
    switch (field) {
      case 'countries':
      case 'blocked':
      case 'number_types':
        if (!Array.isArray(value) || value.some((entry) => typeof entry !== 'string')) {
          throw new Error(`give ${field} as a list of strings`);
        }
        break;
      case 'per_number':
      case 'per_prefix':
        if (!isCount(value)) throw new Error(`give ${field} as a whole number from 1 to 1000000`);
        break;
      default:
        throw new Error(`not set ${field}; its fields are countries, blocked, per_number, per_prefix and number_types`);
    }
  }
  return given as GuardSettings;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1_000_000;
}
