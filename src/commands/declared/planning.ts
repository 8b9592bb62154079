import type { Clock } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { Config } from '../../settings/settings.ts';
import type { WebhookService } from '../../webhooks/service.ts';
import type { KnownApplications } from './known-applications.ts';
import type { Problems } from './problems.ts';
import type { ReadEnv } from './secret.ts';
import type { Services } from './services.ts';

/** The data with which the sections of a file are compared with the store. */
export interface Planning {
  tx: Tx;
  clock: Clock;
  keys: KeyRing;
  config: Config;
  services: Services;
  webhooks: WebhookService;
  readEnv: ReadEnv;
  problems: Problems;
  options: PlanOptions;
  memory: Memory;
  applications: KnownApplications;
  /** The names of carriers that are there, or that the file makes. */
  carriers: Set<string>;
  /** Paths of new objects whose secret will be made, because the file does not name one. */
  unseen: string[];
}

export interface PlanOptions {
  prune: boolean;
  /** Whether there is a file for new credentials. */
  makesCredentials: boolean;
  /** Whether a secret may stand in the file itself, as in files for `npm run carriers`. */
  literalSecrets: boolean;
}

/** What two plans of one run share: ids of new applications, new secrets, and what was asked of the network. */
export interface Memory {
  newIds: Map<string, string>;
  newSecrets: Map<string, Buffer>;
  checks: Map<string, Promise<unknown>>;
}

export function createMemory(): Memory {
  return { newIds: new Map(), newSecrets: new Map(), checks: new Map() };
}

export function remembered<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Runs a check that resolves host names only once. */
export function checkedOnce<Result>({ checks }: Memory, key: string, check: () => Promise<Result>): Promise<Result> {
  return remembered(checks as Map<string, Promise<Result>>, key, check);
}

/** Reports each value that a list has twice. */
export function nameRepeated(
  entries: readonly { path: string; name: string }[],
  problems: Pick<Problems, 'add'>,
  what = 'is in this list already',
): void {
  const seen = new Map<string, string>();
  for (const { path, name } of entries) {
    const first = seen.get(name);
    if (first === undefined) seen.set(name, path);
    else problems.add(path, `${what}: ${first} is the same`);
  }
}

export function grouped<Value>(list: readonly Value[], keyOf: (value: Value) => string): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const value of list) {
    const group = groups.get(keyOf(value));
    if (group === undefined) groups.set(keyOf(value), [value]);
    else group.push(value);
  }
  return groups;
}
