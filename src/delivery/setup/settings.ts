import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { problemsOf, validationError } from '../../http/request/validation.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import { isObject } from '../../platform/is-object.ts';
import { receiptErrorsProblem } from '../../smpp/receipt-errors.ts';
import { submitErrorsProblem } from '../../smpp/submit-errors.ts';
import { type CarrierKind, carrierKinds } from '../carrier/store.ts';
import { type SmppSettings, smppSettingsSchema } from '../smpp/settings.ts';
import { tlvsProblem } from '../smpp/submit-parts.ts';
import { utcOffsetProblem } from '../smpp/validity.ts';

const carrierName = /^[a-z][a-z0-9-]{1,31}$/;

/** Why a carrier can't have this name (completes a sentence that begins with "name"), or undefined. */
export function nameProblem(name: string): string | undefined {
  if (!carrierName.test(name)) return 'must be 2 to 32 lower-case letters, digits or hyphens, and begin with a letter';
  return name === 'sandbox' ? 'must not be sandbox: the sandbox has a carrier of this name' : undefined;
}

/** Why a carrier can't be of this kind, or undefined. */
export function kindProblem(kind: string): string | undefined {
  return carrierKinds.includes(kind as CarrierKind) ? undefined : `must be one of ${carrierKinds.join(', ')}`;
}

/** Reads settings with all their secrets and fills in defaults. Throws one error that names every bad field. */
export function readSettings(given: unknown): SmppSettings {
  const { settings, problems } = checkSettings(given);
  if (problems.length > 0) throw validationError(problems);
  return settings;
}

/**
 * Like `readSettings`, but returns the problems, for callers that check more. `settings` is right only if there are none.
 */
export function checkSettings(given: unknown): { settings: SmppSettings; problems: FieldProblem[] } {
  const settings = withoutShown(structuredClone(given));
  const unfit = problemsOf(smppSettingsSchema, settings).map(({ field, message }) => ({
    field: field === 'request' ? 'settings' : `settings.${field}`,
    message,
  }));
  if (unfit.some(({ field }) => field === 'settings')) return { settings: settings as SmppSettings, problems: unfit };
  const named = new Set(unfit.map(({ field }) => field));
  const more = Object.entries(checks).flatMap(([name, check]) => {
    const value = (settings as Record<string, unknown>)[name];
    const isWrongAlready = [...named].some((field) => `${field}.`.startsWith(`settings.${name}.`));
    return (value ?? null) === null || isWrongAlready ? [] : check(value as never, `settings.${name}`);
  });
  return { settings: settings as SmppSettings, problems: [...unfit, ...more] };
}

/** An operator may send back settings as a read shows them: drops the flags that stand for secrets. */
function withoutShown(given: unknown): unknown {
  if (!isObject(given)) return given;
  const { password_set: _, ...settings } = given;
  if (!isObject(settings.tls)) return settings;
  const { key_set: __, ...tls } = settings.tls;
  return { ...settings, tls };
}

type Check<Value> = (value: Value, field: string) => FieldProblem[];

/** Rules that the schema cannot express, for values that fit it. */
const checks: { [Name in keyof SmppSettings]?: Check<NonNullable<SmppSettings[Name]>> } = {
  host: checkHost,
  hosts: (hosts, field) => hosts.flatMap(({ host }, index) => checkHost(host, `${field}.${index}.host`)),
  local_address: (address, field) =>
    isIP(address) === 0
      ? [{ field, message: 'must be an IP address; the service connects to the carrier from it' }]
      : [],
  system_id: (text, field) => (text === '' ? [{ field, message: 'must not be empty' }] : checkAscii(text, field)),
  password: checkAscii,
  system_type: checkAscii,
  service_type: checkAscii,
  address_range: checkAscii,
  utc_offset: (offset, field) => toProblems(field, utcOffsetProblem(offset)),
  tlvs: (tlvs, field) => toProblems(field, tlvsProblem(tlvs)),
  submit_errors: (errors, field) => toProblems(field, submitErrorsProblem(errors)),
  errors: (errors, field) => toProblems(field, receiptErrorsProblem(errors)),
  charsets: (charsets, field) =>
    new Set(charsets).size === charsets.length ? [] : [{ field, message: 'must name each charset once' }],
  tls: (tls, field) => (tls === false ? [] : checkTls(tls, field)),
};

function toProblems(field: string, problem: string | undefined): FieldProblem[] {
  return problem === undefined ? [] : [{ field, message: problem }];
}

const hostLabel = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;

function isHostName(text: string): boolean {
  return text
    .replace(/\.$/, '')
    .split('.')
    .every((label) => hostLabel.test(label));
}

function checkHost(host: string, field: string): FieldProblem[] {
  if (isIP(host) !== 0 || isHostName(host)) return [];
  return [{ field, message: 'must be a host name or an IP address, without a scheme, a port or a path' }];
}

/** SMPP sends these as ASCII that ends with a NUL. */
function checkAscii(text: string, field: string): FieldProblem[] {
  return /^[\x20-\x7e]*$/.test(text) ? [] : [{ field, message: 'must have ASCII characters only' }];
}

function checkTls(tls: Exclude<SmppSettings['tls'], false>, field: string): FieldProblem[] {
  const { ca, cert, key, servername } = tls;
  const problems: FieldProblem[] = [];
  const add = (name: string, message: string) => problems.push({ field: `${field}.${name}`, message });
  if (servername !== undefined && !isHostName(servername)) add('servername', 'must be a host name');
  if (ca !== undefined && readCertificate(ca) === undefined) add('ca', 'must be certificates in PEM');
  const certificate = cert === undefined ? undefined : readCertificate(cert);
  const privateKey = key === undefined ? undefined : readKey(key);
  if (cert !== undefined && certificate === undefined) add('cert', 'must be a certificate in PEM');
  if (key !== undefined && privateKey === undefined) add('key', 'must be a private key in PEM, without a passphrase');
  if (cert !== undefined && key === undefined) add('key', 'is required with cert: the private key of the certificate');
  if (key !== undefined && cert === undefined) add('cert', 'is required with key: its certificate');
  if (certificate !== undefined && privateKey !== undefined && !certificate.checkPrivateKey(privateKey))
    add('key', 'must be the private key of cert');
  return problems;
}

function readCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function readKey(pem: string) {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

/** Each host with its field, for the check of addresses. */
export function hostsOf({ host, hosts }: SmppSettings): { field: string; host: string }[] {
  return [
    { field: 'settings.host', host },
    ...hosts.map((each, index) => ({ field: `settings.hosts.${index}.host`, host: each.host })),
  ];
}

/** Whether texts sent before the change belong to another account than those sent after it. */
export function isOtherAccount(before: Partial<SmppSettings>, after: SmppSettings): boolean {
  const names = ['host', 'port', 'hosts', 'system_id'] as const;
  return names.some((name) => !isDeepStrictEqual(before[name], after[name]));
}

/** JSON Merge Patch (RFC 7396): fields that are not named stay, null removes one. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const before = isObject(target) ? Object.entries(target) : [];
  const merged = new Map<string, unknown>(before);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
