import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Environment } from '../../platform/environment.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import { createAddressGuard } from '../../platform/http-out/address-guard.ts';
import { addressProblems } from '../carrier/address.ts';
import type { CarrierKind, CarrierRow } from '../carrier/store.ts';
import { isOtherHttpAccount, joinHttpSecrets, keepHttpSecrets, splitHttpSecrets } from '../http/secrets.ts';
import { addressOf, checkHttpSettings, type HttpSettings } from '../http/settings.ts';
import type { SmppSettings } from '../smpp/settings.ts';
import {
  type CarrierSecrets,
  joinSecrets,
  keepSecrets,
  openSecrets,
  type ShownSettings,
  splitSecrets,
} from './secrets.ts';
import { checkSettings, hostsOf, isOtherAccount } from './settings.ts';

/** The settings of a carrier with its secrets. Its kind decides their type. */
export type CarrierSettings = { kind: 'smpp'; settings: SmppSettings } | { kind: 'http'; settings: HttpSettings };

interface Checked {
  carrier: CarrierSettings;
  problems: FieldProblem[];
}

/** All problems of settings, their addresses included. `carrier` is right only if there are none. */
export async function checkCarrier(kind: CarrierKind, given: unknown, environment: Environment): Promise<Checked> {
  if (kind === 'http') {
    const { settings, problems } = checkHttpSettings(structuredClone(given));
    const carrier: CarrierSettings = { kind, settings };
    return { carrier, problems: problems.length > 0 ? problems : await httpAddressProblems(settings, environment) };
  }
  const { settings, problems } = checkSettings(given);
  const carrier: CarrierSettings = { kind, settings };
  return { carrier, problems: problems.length > 0 ? problems : await addressProblems(environment, hostsOf(settings)) };
}

async function httpAddressProblems(settings: HttpSettings, environment: Environment): Promise<FieldProblem[]> {
  const guard = createAddressGuard({ environment, allowPrivate: settings.allow_private });
  const found = await Promise.all(
    addressOf(settings).map(async ({ field, url }) => ({ field, message: await guard.problem(url) })),
  );
  return found.filter((problem): problem is FieldProblem => problem.message !== undefined);
}

/** The settings as they are stored, and the secrets to seal. */
export function splitCarrier(carrier: CarrierSettings): { settings: Record<string, unknown>; secrets: CarrierSecrets } {
  if (carrier.kind === 'smpp') return splitSecrets(carrier.settings);
  const { settings, secrets } = splitHttpSecrets(carrier.settings);
  return { settings, secrets: Object.keys(secrets).length === 0 ? {} : { fields: secrets } };
}

/** The settings of a row with their secrets. Throws if these cannot be opened. */
export function openCarrier(
  keys: KeyRing,
  row: Pick<CarrierRow, 'id' | 'kind' | 'settings' | 'secrets'>,
): CarrierSettings {
  const secrets = openSecrets(keys, row.id, row.secrets);
  if (row.kind === 'http') return { kind: 'http', settings: joinHttpSecrets(row.settings, secrets.fields ?? {}) };
  return { kind: 'smpp', settings: joinSecrets(row.settings as unknown as ShownSettings, secrets) };
}

/** New settings with the secrets that they do not name. */
export function keepCarrierSecrets(given: unknown, before: CarrierSettings): unknown {
  return before.kind === 'smpp' ? keepSecrets(given, before.settings) : keepHttpSecrets(given, before.settings);
}

/** Whether texts sent before the change belong to another account than those sent after it. */
export function changesAccount(before: CarrierSettings, after: CarrierSettings): boolean {
  if (before.kind === 'smpp' && after.kind === 'smpp') return isOtherAccount(before.settings, after.settings);
  if (before.kind === 'http' && after.kind === 'http') return isOtherHttpAccount(before.settings, after.settings);
  return true;
}
