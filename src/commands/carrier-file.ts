import { readFile, stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { CarrierRow } from '../delivery/carrier/store.ts';
import { secretFieldNames } from '../delivery/http/presets/presets.ts';
import { hideSecrets } from '../delivery/http/secrets.ts';
import type { CarrierSettings } from '../delivery/setup/kinds.ts';
import { readSettings } from '../delivery/setup/settings.ts';
import { StartError } from '../platform/errors.ts';
import { isObject } from '../platform/is-object.ts';

/** A carrier as a file describes it, with its secrets. */
export interface WrittenCarrier {
  name: string;
  kind: string;
  settings: Record<string, unknown>;
}

/** A file as `apply` reads it. A section that the file does not have is undefined. */
export interface CarrierFile {
  carriers: WrittenCarrier[];
  routes: unknown[] | undefined;
  senders: unknown[] | undefined;
  numbers: unknown[] | undefined;
}

const largestFile = 1024 * 1024;
const sections = ['carriers', 'routes', 'senders', 'numbers'];
/** Over all sections. It also limits the number of problems reported. */
const mostEntries = 10_000;

/** Reads a file for `apply`. A secret may be `{"env": "NAME"}`: it then comes from the environment. */
export async function readCarrierFile(
  path: string,
  readEnv: (name: string) => string | undefined,
): Promise<CarrierFile> {
  const file = await readJsonFile(path);
  if (!isObject(file)) throw new StartError(`${path} must hold a JSON object with "carriers".`);
  for (const [name, value] of Object.entries(file)) {
    if (!sections.includes(name))
      throw new StartError(`${path}: "${name}" is not known. A file may have ${sections.join(', ')}.`);
    if (!Array.isArray(value)) throw new StartError(`${path}: "${name}" must be a list.`);
    if (value.length > mostEntries) throw new StartError(`${path}: "${name}" has more than ${mostEntries} entries.`);
  }
  const { carriers = [], ...others } = file as Partial<Record<keyof CarrierFile, unknown[]>>;
  return {
    carriers: readCarriers(carriers, path, readEnv),
    routes: others.routes,
    senders: others.senders,
    numbers: others.numbers,
  };
}

function readCarriers(
  carriers: unknown[],
  path: string,
  readEnv: (name: string) => string | undefined,
): WrittenCarrier[] {
  const written = carriers.map((entry, index) => readEntry(entry, `${path}: carriers.${index}`, readEnv));
  const names = written.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new StartError(`${path} has the carrier ${twice} twice.`);
  return written;
}

async function readJsonFile(path: string): Promise<unknown> {
  const { size } = await stat(path).catch(() => {
    throw new StartError(`The file ${path} cannot be read.`);
  });
  if (size > largestFile) throw new StartError(`The file ${path} is larger than 1 MiB.`);
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new StartError(`The file ${path} is not JSON: ${(error as Error).message}`);
  }
}

function readEntry(entry: unknown, where: string, readEnv: (name: string) => string | undefined): WrittenCarrier {
  const { name, kind, settings } = isObject(entry) ? entry : {};
  if (typeof name !== 'string' || typeof kind !== 'string' || !isObject(settings))
    throw new StartError(`${where} must have "name", "kind" and "settings".`);
  const reveal = (value: unknown, field: string): unknown => {
    if (!isObject(value) || typeof value.env !== 'string') return value;
    const secret = readEnv(value.env);
    if (secret === undefined) throw new StartError(`${where}.settings.${field}: ${value.env} is not set.`);
    return secret;
  };
  const revealAll = (values: Record<string, unknown>, place = '') =>
    Object.fromEntries(Object.entries(values).map(([field, value]) => [field, reveal(value, `${place}${field}`)]));
  const { tls, secrets } = settings;
  return {
    name,
    kind,
    settings: {
      ...revealAll(settings),
      ...(isObject(tls) && { tls: revealAll(tls, 'tls.') }),
      ...(isObject(secrets) && { secrets: revealAll(secrets, 'secrets.') }),
    },
  };
}

/** A carrier as `export` writes it: settings that are not the default, and where to put each secret. */
export function exportCarrier(row: CarrierRow): object {
  const { name, kind, settings } = row;
  if (kind === 'http') return exportHttp(row);
  const usual = readSettings({ host: 'a', system_id: 'a' }) as Record<string, unknown>;
  const { password_set, host, port, system_id, tls, ...rest } = settings;
  const changed = Object.entries(rest).filter(([key, value]) => !isDeepStrictEqual(value, usual[key]));
  const prefix = `CARRIER_${name.toUpperCase().replaceAll('-', '_')}`;
  return {
    name,
    kind,
    settings: {
      host,
      port,
      system_id,
      ...(password_set === true && { password: { env: `${prefix}_PASSWORD` } }),
      ...(isObject(tls) && { tls: exportTls(tls, `${prefix}_TLS_KEY`) }),
      ...Object.fromEntries(changed),
    },
  };
}

/** A secret that is shown as `auth_token_set` or in `secrets_set` becomes a place in the environment. */
function exportHttp({ name, kind, settings }: CarrierRow): object {
  const envOf = (field: string) => ({ env: `CARRIER_${`${name}_${field}`.toUpperCase().replaceAll('-', '_')}` });
  const all = Object.entries(hideSecrets(settings)).flatMap(([field, value]): [string, unknown][] => {
    if (!field.endsWith('_set')) return [[field, value]];
    const secret = field.slice(0, -4);
    if (Array.isArray(value))
      return value.length === 0 ? [] : [[secret, Object.fromEntries(value.map((each) => [each, envOf(each)]))]];
    return value === true ? [[secret, envOf(secret)]] : [];
  });
  return { name, kind, settings: Object.fromEntries(all) };
}

function exportTls({ key_set, ...tls }: Record<string, unknown>, env: string): object {
  return key_set === true ? { ...tls, key: { env } } : tls;
}

/** What would change, one line for each setting, without secrets. */
export function differences(before: CarrierSettings, after: CarrierSettings): string[] {
  const [old, young] = [before.settings, after.settings] as unknown as Record<string, unknown>[];
  const secret = new Set(['password', 'tls', 'secrets', ...secretFieldNames]);
  const names = new Set([...Object.keys(old ?? {}), ...Object.keys(young ?? {})]);
  return [...names].flatMap((name) => {
    const [was, is] = [old?.[name], young?.[name]];
    if (isDeepStrictEqual(was, is)) return [];
    if (secret.has(name)) return [`${name} changed`];
    return [`${name}: ${shown(was)} → ${shown(is)}`];
  });
}

function shown(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value);
}
