import { createAudit } from '../accounts/audit/audit.ts';
import { readEmail } from '../accounts/people/email.ts';
import { lockPerson } from '../accounts/people/person-store.ts';
import { createLinkMaker } from '../accounts/sign-in/one-time-links.ts';
import { deleteFactor } from '../accounts/sign-in/second-factor-store.ts';
import { deleteSessionsOf } from '../accounts/sign-in/session-store.ts';
import { composeSigningKeys } from '../compose/signing-keys.ts';
import { createInboundRetention } from '../inbound/inbound-retention.ts';
import { createMessageRetention } from '../messages/message-retention.ts';
import { loadPhoneNumbers, readNumber } from '../messages/numbers/phone-number.ts';
import { type Clock, hourMs, toTimestamp } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { rotateKeyRing } from '../platform/crypto/open-key-ring.ts';
import type { Database } from '../platform/database/database.ts';
import { deleteAnswersAbout } from '../platform/database/idempotency.ts';
import { StartError } from '../platform/errors.ts';
import { toRun } from '../platform/how-to-run.ts';
import { createLog } from '../platform/log.ts';
import { alertSecret } from '../quality/alerts/body.ts';
import { createRegistry } from '../registry/registry.ts';
import { findServiceAddress } from '../registry/service-address.ts';
import { deleteArrivalsOf } from '../sandbox/handsets.ts';
import type { Config } from '../settings/settings.ts';
import { createVerificationRetention } from '../verify/verification-retention.ts';
import { deleteAnswersNaming } from '../webhooks/answer-store.ts';
import { runBackup } from './backup-command.ts';
import { runCarrierCommand } from './carrier-commands.ts';
import { declaredCommands, runDeclaredCommand } from './declared/declared-commands.ts';

/** Commands that need a shell on the machine. `restore` is separate: it opens the database by itself. */
export const commands = [
  'operator',
  'reset-password',
  'forget',
  'rotate-keys',
  'rotate-ring',
  'carriers',
  'alert-secret',
  'backup',
  'restore',
  ...declaredCommands,
];

interface Parts {
  config: Config;
  clock: Clock;
  database: Database;
  keys: KeyRing;
  /** The master secret. */
  secret: string;
  /** Prints progress of a long command. */
  say: (text: string) => void;
  /** Reads a variable of the environment: a file may name one instead of a secret. */
  readEnv: (name: string) => string | undefined;
  /** Ends the process with this code when the command has ended; 0 without it. */
  exitWith: (code: number) => void;
  /** Whether a person reads the output in colours. */
  colour: boolean;
  /** Aborted when a person or the system ends the command. */
  interrupted: AbortSignal;
}

export function runCommand(command: string, args: string[], parts: Parts): Promise<string> {
  switch (command) {
    case 'forget':
      return forget(args, parts);
    case 'rotate-keys':
      return rotateKeys(args, parts);
    case 'rotate-ring':
      return rotateRing(args, parts);
    case 'carriers':
      return runCarrierCommand(args, parts);
    case 'alert-secret':
      return showAlertSecret(args, parts);
    case 'backup':
      return runBackup(args, parts);
    case 'plan':
    case 'apply':
    case 'export':
      return runDeclaredCommand(command, args, parts);
    default:
      return makeLink(command, args, parts);
  }
}

/** Clients may cache the JWKS for five minutes, so an hour gives each of them the new key in time. */
const rotationLeadMs = hourMs;

async function rotateKeys(args: string[], parts: Parts): Promise<string> {
  const withdraw = args.includes('--withdraw');
  if (args.some((arg) => arg !== '--withdraw'))
    throw new StartError(`Run ${toRun('rotate-keys')} or ${toRun('rotate-keys', '--withdraw')}.`);
  const log = createLog({ level: 'silent', readable: false });
  const { feed } = createRegistry({ ...parts, log, listen: false });
  await composeSigningKeys(parts, feed).rotate({ leadMs: rotationLeadMs, withdraw });
  await feed.stop();
  return withdraw
    ? '\nA new key signs tokens from now on. The old keys are withdrawn, and every token they signed is refused.\n'
    : '\nA new key is published. It will sign tokens in one hour. Existing tokens stay valid.\n';
}

async function rotateRing(args: string[], parts: Parts): Promise<string> {
  if (args.length > 0) throw new StartError(`Run it without arguments: ${toRun('rotate-ring')}`);
  const { version, usedFromMs, isNew } = await rotateKeyRing(parts);
  const from = toTimestamp(usedFromMs);
  return isNew
    ? `\nVersion ${version} of the key ring is made. New rows use it from ${from}; older rows stay valid.\n`
    : `\nVersion ${version} of the key ring was made just before and is used from ${from}. No other one was made.\n`;
}

async function showAlertSecret(args: string[], { config, keys }: Parts): Promise<string> {
  if (args.length > 0) throw new StartError(`Run it without arguments: ${toRun('alert-secret')}`);
  return [
    '',
    `  ${alertSecret(keys)}`,
    '',
    config.alertUrl === undefined
      ? 'HELIOGRAPH_ALERT_URL is not set, so no alert is posted.'
      : `Alerts are posted to ${new URL(config.alertUrl).host}, signed with this secret (Standard Webhooks 1.0).`,
    'A rotation of the key ring makes another secret. The one before works until the next rotation.',
    '',
  ].join('\n');
}

async function forget([written = '', ...more]: string[], parts: Parts): Promise<string> {
  const { config, clock, database, keys, say } = parts;
  const number = readNumber(written);
  if (number === undefined || more.length > 0) {
    throw new StartError(`Give one phone number: ${toRun('forget', '+447700900123')}`);
  }
  await loadPhoneNumbers();
  const messages = await createMessageRetention({
    database,
    clock,
    days: config.retentionDays,
    deleteArrivalsOf,
  }).forget(number, (checked) => {
    if (checked % 1_000_000 === 0) say(`Checked ${checked.toLocaleString('en')} messages.`);
  });
  const verifications = await createVerificationRetention(database, clock, config.retentionDays).forget(number);
  const days = { retentionDays: config.retentionDays, keepDays: config.keepDays };
  const inbound = await createInboundRetention({ database, clock, keys, ...days }).forget(number);
  await deleteAnswersAbout(database, keys, JSON.stringify(number));
  await deleteAnswersNaming(database, number);
  const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
  const records = `${counted(messages, 'message')}, ${counted(inbound, 'inbound text')} and ${counted(verifications, 'verification')}`;
  return `\nThe number is masked in ${records}.\n`;
}

const withoutSecondFactor = '--remove-second-factor';

async function makeLink(command: string, args: string[], parts: Parts): Promise<string> {
  const removesSecondFactor = command === 'reset-password' && args.includes(withoutSecondFactor);
  const [given, ...more] = removesSecondFactor ? args.filter((arg) => arg !== withoutSecondFactor) : args;
  const email = readEmail(given ?? '');
  if (email === undefined || more.length > 0) {
    throw new StartError(`Give one email address: ${toRun(command, 'you@example.com')}`);
  }
  const links = createLinkMaker(parts);
  const existing = await links.findPerson(email);
  const makesOperator = command === 'operator';
  if (!makesOperator && parts.config.sso?.only && existing?.operator === false)
    return withoutPassword(existing, removesSecondFactor, parts);
  const token = await links.createLink(email, { makesOperator, removesSecondFactor }, (tx, { personId }) =>
    createAudit(parts).recordByMachine(tx, {
      act: 'reset_link.created',
      id: personId,
      details: { email, makes_operator: makesOperator, removes_second_factor: removesSecondFactor },
    }),
  );
  if (token === undefined) throw new StartError(`No account has the email ${email}.`);
  const running = await findServiceAddress(parts.database);
  const publicUrl = running ?? parts.config.publicUrl;
  return [
    '',
    ...linkPurpose(command, email, existing),
    ...(removesSecondFactor ? ['It also turns off the second factor.'] : []),
    ...(makesOperator || existing?.operator ? ['', ...enrolment(parts.config)] : []),
    ...(running === undefined ? ['', 'The service is not running. The link opens when it runs at this address:'] : []),
    '',
    // Browsers do not send the part after `#`, so the token stays out of access logs.
    `  ${publicUrl}/#/set-password/${token}`,
    '',
    'Or without a browser:',
    '',
    `  curl -X POST ${publicUrl}/portal/v1/password-resets -H 'Content-Type: application/json' \\`,
    `    -d '{"token":"${token}","password":"…"}'`,
    '',
  ].join('\n');
}

/** Where single sign-on is the only way in, no link sets a password. A lost second factor is turned off at once. */
async function withoutPassword(
  { id, email }: { id: string; email: string },
  removesSecondFactor: boolean,
  parts: Parts,
): Promise<string> {
  if (!removesSecondFactor)
    throw new StartError(
      `This service has no passwords (HELIOGRAPH_SSO_ONLY): ${email} signs in by single sign-on. ` +
        `To make it an operator, who can sign in without the provider: ${toRun('operator', email)}`,
    );
  await parts.database.transaction(async (tx) => {
    await lockPerson(tx, id);
    await deleteFactor(tx, id);
    await deleteSessionsOf(tx, id);
    await createAudit(parts).recordByMachine(tx, { act: 'second_factor.turned_off', id, details: { email } });
  });
  return `\nThe second factor of ${email} is off, and its sessions have ended. It signs in by single sign-on.\n`;
}

/** Says what the link will do. An existing account loses its password and its sessions, so its owner should know. */
function linkPurpose(command: string, email: string, existing: { operator: boolean } | undefined): string[] {
  const effect = 'When it is used, it sets a new password and ends all sessions of the account.';
  const when = 'It works once, within 24 hours.';
  if (command !== 'operator') return [`This link is for ${email}. ${effect}`, when];
  if (existing === undefined) return [`This link makes ${email} an operator. ${effect}`, when];
  return existing.operator
    ? [`${email} is already an operator. This link is for a new password.`, effect, when]
    : [`${email} already has an account. This link makes it an operator. ${effect}`, when];
}

/** A stolen password must not be enough to enrol a phone, so that has to follow the link. */
function enrolment({ operatorSecondFactor }: Config): string[] {
  return [
    ...(operatorSecondFactor === 'required' ? ['Operators can do nothing without a second factor.'] : []),
    'If there is none yet, set it up on the account page within 15 minutes of using the link.',
  ];
}
