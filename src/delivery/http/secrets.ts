// Tests: src/delivery/http/settings.test.ts
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../platform/is-object.ts';
import { type PresetName, presets, secretFieldNames } from './presets/presets.ts';
import { addressOf, type HttpSettings, secretsOf } from './settings.ts';

/** Settings as they are stored and shown: a flag replaces each secret, and says whether there is one. */
export type ShownHttpSettings = Record<string, unknown>;

/** Takes the secrets out: a preset's by field, those of `describe` as `secrets.name`. */
export function splitHttpSecrets(settings: HttpSettings): {
  settings: ShownHttpSettings;
  secrets: Record<string, string>;
} {
  const secrets = Object.fromEntries(secretsOf(settings));
  const { secrets: named, ...rest } = settings;
  const shown = hideSecrets(rest);
  for (const field of secretFields(settings.preset)) shown[`${field}_set`] ??= false;
  if (settings.preset === undefined) shown.secrets_set = Object.keys(named ?? {});
  return { settings: shown, secrets };
}

/** A flag replaces each secret, even if other settings are wrong. */
export function hideSecrets(settings: Readonly<Record<string, unknown>>): ShownHttpSettings {
  const shown: ShownHttpSettings = { ...settings };
  for (const field of secretFieldNames) {
    if (shown[field] === undefined) continue;
    shown[`${field}_set`] = true;
    delete shown[field];
  }
  return shown;
}

export function joinHttpSecrets(shown: ShownHttpSettings, secrets: Readonly<Record<string, string>>): HttpSettings {
  const settings = Object.fromEntries(Object.entries(shown).filter(([field]) => !field.endsWith('_set')));
  const named: Record<string, string> = {};
  for (const [field, value] of Object.entries(secrets)) {
    if (field.startsWith('secrets.')) named[field.slice(8)] = value;
    else settings[field] = value;
  }
  if (Object.keys(named).length > 0) settings.secrets = named;
  return settings as HttpSettings;
}

/** Adds the secrets that new settings do not name, and takes away those that are null. */
export function keepHttpSecrets(given: unknown, before: HttpSettings): unknown {
  if (!isObject(given) || given.preset !== before.preset) return given;
  const kept: Record<string, unknown> = { ...given };
  for (const field of secretFields(before.preset)) {
    if (kept[field] === undefined && before[field] !== undefined) kept[field] = before[field];
    if (kept[field] === null) delete kept[field];
  }
  if (before.preset !== undefined || before.secrets === undefined) return kept;
  const named = { ...before.secrets, ...(isObject(given.secrets) ? given.secrets : {}) };
  kept.secrets = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== null));
  return kept;
}

/** Whether texts sent before the change belong to another account than those sent after it. */
export function isOtherHttpAccount(before: HttpSettings, after: HttpSettings): boolean {
  const name = (settings: HttpSettings) => [
    settings.preset,
    addressOf(settings)[0]?.url,
    settings.values,
    ...(presets[settings.preset as PresetName]?.account ?? []).map((field) => settings[field]),
  ];
  return !isDeepStrictEqual(name(before), name(after));
}

function secretFields(preset: PresetName | undefined): string[] {
  if (preset === undefined) return [];
  return secretFieldNames.filter((field) => Object.hasOwn(presets[preset].fields, field));
}
