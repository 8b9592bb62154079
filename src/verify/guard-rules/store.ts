import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { GuardSettings } from '../../settings/settings.ts';

/** The newest rules that a configuration file has set. Version 0: no file has set any, and the settings apply. */
export interface SetRules {
  version: number;
  rules: GuardSettings;
}

export async function readNewestRules(tx: Tx): Promise<SetRules> {
  const { rows } = await tx.query<SetRules>(readStatement);
  return rows[0] ?? { version: 0, rules: {} };
}

const readStatement = {
  name: 'read-guard-rules',
  text: 'select version, rules from guard_rules order by version desc limit 1',
};

/** False if this version already exists: another apply was first. */
export async function insertRules(
  tx: Tx,
  { version, rules }: SetRules,
  made: { createdAtMs: number; createdBy: string },
): Promise<boolean> {
  const { count } = await tx.query(
    `insert into guard_rules (version, rules, created_at, created_by) values ($1, $2, $3, $4)
     on conflict (version) do nothing`,
    [version, JSON.stringify(rules), toTimestamp(made.createdAtMs), made.createdBy],
  );
  return count > 0;
}
