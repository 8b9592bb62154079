// Tests: test/contract/declared-guard.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { Database, Note, Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors.ts';
import type { GuardSettings } from '../../settings/settings.ts';
import { insertRules, readNewestRules, type SetRules } from './store.ts';

/** Names a change of the guard's rules in the change feed. */
export const guardRulesChange = 'guard_rules';

export interface GuardRuleServiceOptions {
  database: Database;
  clock: Clock;
  /** Runs a change that every node follows; after it resolves no node acts on the old state. */
  change: <Result>(name: string, work: (tx: Tx) => Promise<Result>) => Promise<Result>;
}

export type GuardRuleService = ReturnType<typeof createGuardRuleService>;

/** The guard's rules, version by version. After a change returns, no node starts a verification by the old ones. */
export function createGuardRuleService({ database, clock, change }: GuardRuleServiceOptions) {
  return {
    read: (): Promise<SetRules> => readNewestRules(database),

    /** Writes the next version, if `version` is still the newest. */
    replace: (version: number, rules: GuardSettings, by: string, note?: Note<SetRules>): Promise<SetRules> =>
      change(guardRulesChange, async (tx) => {
        const next = { version: version + 1, rules };
        const isNewest = (await readNewestRules(tx)).version === version;
        if (!isNewest || !(await insertRules(tx, next, { createdAtMs: clock.nowMs(), createdBy: by })))
          throw new ApiError('INCOMPATIBLE_STATE', `The guard's rules have been changed since version ${version}.`);
        await note?.(tx, next);
        return next;
      }),
  };
}
