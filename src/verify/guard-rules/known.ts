// Tests: test/contract/declared-guard.test.ts
import type { Database } from '../../platform/database/database.ts';
import type { Environment } from '../../platform/environment.ts';
import type { GuardSettings } from '../../settings/settings.ts';
import { createGuard, type Guard } from '../guard.ts';
import { readNewestRules } from './store.ts';

/** The guard of this node: the settings, overridden by the rules of a configuration file. */
export interface KnownGuard {
  /** Reads the rules again after a change, and while this node may have missed one. */
  current(): Guard | Promise<Guard>;
  /** The change feed calls this. */
  forget(): void;
}

export interface KnownGuardOptions {
  database: Database;
  settings: GuardSettings;
  environment: Environment;
  /** Whether this node has followed every change. A function, because the feed is built later. */
  isTrusted: () => boolean;
}

export function createKnownGuard({ database, settings, environment, isTrusted }: KnownGuardOptions): KnownGuard {
  let known: { version: number; guard: Guard } | undefined;
  let isFresh = false;
  let changes = 0;

  async function read(): Promise<Guard> {
    const before = changes;
    const { version, rules } = await readNewestRules(database);
    // Keep one object per version: `start/batch.ts` recognises a changed guard by it.
    if (known?.version !== version) known = { version, guard: createGuard({ ...settings, ...rules }, environment) };
    isFresh = before === changes;
    return known.guard;
  }

  return {
    current: () => (isFresh && known !== undefined && isTrusted() ? known.guard : read()),
    forget() {
      changes++;
      isFresh = false;
    },
  };
}
