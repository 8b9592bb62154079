import { toCall, toRun } from './platform/how-to-run.ts';
import { credentialsFile, type SandboxCredentials } from './registry/demo-applications.ts';
import type { Config } from './settings/settings.ts';

/** The text printed at startup. The first start of a sandbox shows the ways in; a later one says only where it is. */
export function welcome(options: {
  version: string;
  config: Config;
  /** Set on the first start of a sandbox only. */
  made: SandboxCredentials | undefined;
  /** The token of the link that signs in to the demo account once. */
  signInToken?: string | undefined;
  /** The paths that are mounted: a `curl` line is shown only if its path is among them. */
  paths: string[];
  /** The names of the carriers that operators have connected. */
  carriers: string[];
  /** How many operators have no second factor although the service requires one. */
  refusedOperators?: number;
}): string {
  const { version, config, made, signInToken, paths, carriers, refusedOperators = 0 } = options;
  const missing = config.environment === 'production' && carriers.length === 0 ? noCarrier() : [];
  if (config.role === 'worker') {
    const health = `  Health     http://${config.host}:${config.port}/readyz`;
    return ['', `Heliograph ${version} delivers texts (${config.environment}).`, '', health, '', ...missing].join('\n');
  }
  const lines = ['', `Heliograph ${version} is ready (${config.environment}).`, ''];
  if (made !== undefined) lines.push(...firstSteps(made, { config, signInToken, paths }));
  else lines.push(`  Portal       ${config.publicUrl}/`);
  if (config.environment === 'sandbox') lines.push(`  Credentials  ${credentialsFile(config.dataDir)}`);
  lines.push('');
  if (config.environment === 'sandbox' && carriers.length > 0) lines.push(...notToHandsets(carriers));
  if (refusedOperators > 0) lines.push(...withoutFactor(refusedOperators));
  return [...lines, ...missing].join('\n');
}

/** What operators of an older installation have to do. */
const withoutFactor = (count: number) => [
  `OPERATORS WITHOUT A SECOND FACTOR: ${count}. They can do nothing as operators until they have one. For each, make a link here:`,
  '',
  `  ${toRun('operator', 'you@example.com')}`,
  '',
  'Its user sets a new password, and then a second factor on the account page, within 15 minutes.',
  '',
];

/** In production, what is missing until the first text can leave. */
const noCarrier = () => [
  'NO CARRIER IS CONNECTED: every text and every verification is refused with 503.',
  'A carrier is an account at an operator or aggregator that you reach by SMPP. To connect one, write carriers.json:',
  '',
  '  {"carriers": [{"name": "acme", "kind": "smpp", "settings": {"host": "smsc.example.com", "port": 2775,',
  '    "system_id": "…", "password": {"env": "ACME_PASSWORD"}}}]}',
  '',
  'and run, beside this service and with its settings (a .env file serves both):',
  '',
  `  ACME_PASSWORD=… ${toRun('carriers', 'apply carriers.json')}`,
  `  ${toRun('carriers', 'test acme +447700900123')}`,
  '',
  'docs/carriers.md explains every setting and what to ask your provider. No restart is needed.',
  '',
];

/** Otherwise a reader waits for a text on the handset that never comes, because the practice carrier is not running. */
function notToHandsets(carriers: string[]): string[] {
  const which = carriers.length === 1 ? `the carrier ${carriers[0]}` : `the carriers ${carriers.join(', ')}`;
  return [
    `Texts go through ${which}, except to test numbers (+1500555…). ${toRun('carriers', 'status')} shows its state.`,
    '',
  ];
}

interface FirstStart {
  config: Config;
  signInToken: string | undefined;
  paths: string[];
}

function firstSteps(made: SandboxCredentials, { config, signInToken, paths }: FirstStart): string[] {
  const lines: string[] = [];
  if (signInToken !== undefined) {
    lines.push('Open the portal, signed in. This link works once, within 15 minutes:', '');
    lines.push(`  ${config.publicUrl}/#/sign-in/${signInToken}`, '');
  }
  lines.push('Send a text and verify a number, in a second terminal in this folder:', '');
  lines.push(`  ${toCall('send +15005550100 "Hello"', config.dataDir)}`);
  lines.push(`  ${toCall('verify start +15005550100', config.dataDir)}`, '');
  lines.push('The demo account, and its two applications, each registered for all three APIs:', '');
  lines.push(`  Portal     ${config.publicUrl}/`);
  lines.push(`    email      ${made.portal.email}`, `    password   ${made.portal.password}`, '');
  for (const { plan, application_id, api_key, client_id, client_secret } of made.applications) {
    lines.push(`  ${plan.padEnd(10)}  ${application_id}`);
    lines.push(`    API key        ${api_key}`);
    lines.push(`    client id      ${client_id}`);
    lines.push(`    client secret  ${client_secret}`, '');
  }
  const curls = tryLines(made).filter(({ path }) => paths.includes(path));
  if (curls.length > 0) lines.push('The APIs, one line for each:', '', ...curls.map(({ line }) => `  ${line}`), '');
  return lines;
}

/** One `curl` line per API; each works alone. */
function tryLines({ base_url, token_url, applications }: SandboxCredentials): { path: string; line: string }[] {
  const [application] = applications;
  if (application === undefined) return [];
  const json = "-H 'Content-Type: application/json'";
  const token = (scope: string) =>
    `$(curl -s ${token_url} -d grant_type=client_credentials -d client_id=${application.client_id} ` +
    `-d client_secret=${application.client_secret} -d 'scope=openid ${scope}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`;
  const bearer = (scope: string) => `-H "Authorization: Bearer ${token(scope)}"`;
  const message = `-d '{"to":"+15005550100","from":"ACME","message":"Hello"}'`;
  return [
    {
      path: '/sms/v1/messages',
      line: `curl -i ${base_url}/sms/v1/messages -H 'apikey: ${application.api_key}' ${json} ${message}`,
    },
    {
      path: '/verify/v1/verifications',
      line: `curl -i ${base_url}/verify/v1/verifications ${bearer('verify:manage')} ${json} -d '{"to":"+15005550100","channel":"sms"}'`,
    },
    {
      path: '/messaging/v1/messages',
      line: `curl -i ${base_url}/messaging/v1/messages ${bearer('messaging:send')} ${json} ${message}`,
    },
  ];
}
