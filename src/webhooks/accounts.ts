// Tests: test/contract/operator-accounts.test.ts
import { toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { untilGivenBack } from './give-back.ts';
import { backToUs, isAskedBack, notifyWorkers, withoutFailures } from './lease-store.ts';

const ofAccount = `c.webhook_id in (
      select w.id from webhook w join application a on a.id = w.application_id where a.account_id = $1)`;

/**
 * In the transaction that disables an account: workers that hold its webhooks must give them back, and none claims one.
 */
export async function holdWebhooks(tx: Tx, accountId: string): Promise<void> {
  await tx.query(`update webhook_course c set ${backToUs} where ${ofAccount}`, [accountId]);
  await notifyWorkers(tx);
}

/** After that transaction: resolves when attempts for the account can no longer begin. */
export function untilWebhooksHeld(database: Database, accountId: string): Promise<void> {
  return untilGivenBack(async () => {
    const { count } = await database.query(
      `select from webhook_course c where ${isAskedBack} and ${ofAccount} limit 1`,
      [accountId],
    );
    return count > 0;
  });
}

/**
 * In the transaction that enables the account: its webhooks continue where they stopped. Failures from before do not
 * count, because the webhooks could not succeed meanwhile.
 */
export async function resumeWebhooks(tx: Tx, accountId: string, nowMs: number): Promise<void> {
  await tx.query(
    `update webhook_course c set due_at = least(c.due_at, $2), ${withoutFailures}, ${backToUs}
     where ${ofAccount}`,
    [accountId, toTimestamp(nowMs)],
  );
  await notifyWorkers(tx);
}
