import { words } from '../../words/operator/carriers.ts';
import type { SettingField, SettingGroup } from './setting-fields.ts';

type Settings = Record<string, unknown>;

/** The state of the form: each field as typed, and the settings without a field as JSON. */
export interface SettingsDraft {
  values: Record<string, string | boolean>;
  rest: string;
}

const fieldsIn = (groups: SettingGroup[]) => groups.flatMap(({ fields }) => fields);

export function toDraft(settings: Settings, groups: SettingGroup[]): SettingsDraft {
  const fields = fieldsIn(groups);
  const known = new Set(['preset', ...fields.map(({ name }) => name.split('.')[0])]);
  const rest = Object.entries(settings).filter(([name]) => !known.has(name) && !name.endsWith('_set'));
  return {
    values: Object.fromEntries(fields.map((field) => [field.name, typedOf(field, read(settings, field.name))])),
    rest: rest.length === 0 ? '{}' : JSON.stringify(Object.fromEntries(rest), null, 2),
  };
}

function typedOf({ type, choices }: SettingField, value: unknown): string | boolean {
  if (type === 'check') return typeof value === 'object' ? value !== null : value === true;
  if (type === 'list') return Array.isArray(value) ? value.join(', ') : '';
  if (value === undefined || value === null) return choices?.[0]?.value ?? '';
  if (type === 'json') return JSON.stringify(value, null, 2);
  return String(value);
}

/** The settings of the form. Throws a SyntaxError for invalid JSON. */
export function toSettings({ values, rest }: SettingsDraft, groups: SettingGroup[]): Settings {
  const settings: Settings = { ...parsed(rest.trim() === '' ? '{}' : rest, words.settings.rest) };
  for (const field of fieldsIn(groups)) {
    if (field.onlyWith !== undefined && values[field.onlyWith] !== true) continue;
    const value = meantBy(field, values[field.name] ?? '');
    if (value !== undefined) write(settings, field.name, value);
  }
  return settings;
}

function meantBy({ type, name, label }: SettingField, typed: string | boolean): unknown {
  if (typeof typed === 'boolean') return typed ? tickedOf(name) : false;
  if (typed.trim() === '') return undefined;
  if (type === 'number') return Number.isFinite(Number(typed)) ? Number(typed) : typed;
  if (type === 'json') return parsed(typed, label);
  if (type === 'list') return typed.split(/[\s,]+/).filter((item) => item !== '');
  return type === 'secret' || type === 'lines' ? typed : typed.trim();
}

function parsed(json: string, label: string): Settings {
  const problem = (why: string) => new SyntaxError(`${label}: ${why}`);
  try {
    const value: unknown = JSON.parse(json);
    if (isObject(value)) return value;
  } catch (error) {
    throw problem(words.settings.notJson((error as Error).message));
  }
  throw problem(words.settings.notObject);
}

/** TLS is an object, and each of its settings has a field. */
function tickedOf(name: string): unknown {
  return name === 'tls' ? {} : true;
}

function read(settings: Settings, name: string): unknown {
  const [first = '', second] = name.split('.');
  const value = settings[first];
  return second === undefined || !isObject(value) ? (second === undefined ? value : undefined) : value[second];
}

function write(settings: Settings, name: string, value: unknown): void {
  const [first = '', second] = name.split('.');
  if (second === undefined) settings[first] = value;
  else settings[first] = { ...(isObject(settings[first]) && settings[first]), [second]: value };
}

/** A merge patch (RFC 7396) that makes `after` of `before`, or undefined if they are the same. */
export function patchBetween(before: Settings, after: Settings): Settings | undefined {
  const patch: Settings = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, wanted] = [before[name], after[name]];
    if (JSON.stringify(old) === JSON.stringify(wanted)) continue;
    if (wanted === undefined) patch[name] = null;
    else patch[name] = isObject(old) && isObject(wanted) ? patchBetween(old, wanted) : wanted;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function isObject(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
