// Tests: test/contract/operator-now.test.ts
import type { Tx } from '../../platform/database/database.ts';

const mostCounted = 1000;

/** Raised alerts that are not over. It reads the index of open alerts alone, and stops at 1,000. */
export async function countOpenAlerts(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ open: number }>(countStatement, [mostCounted]);
  return rows[0]?.open ?? 0;
}

const countStatement = {
  name: 'count-open-alerts',
  text: `select count(*)::integer as open from (
    select from alert where cleared_at is null and raised_at is not null limit $1) as found`,
};
