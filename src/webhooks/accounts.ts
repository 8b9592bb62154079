// Tests: test/contract/operator-accounts.test.ts
import { toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { untilGivenBack } from './give-back.ts';
import { isAskedBack, notifyWorkers } from './lease-store.ts';

const ofAccount = `c.webhook_id in (
      select w.id from webhook w join application a on a.id = w.application_id where a.account_id = $1)`;

/**
 * In the transaction that disables an account: workers that hold its webhooks must give them back, and none claims one.
 */
export async function holdWebhooks(tx: Tx, accountId: string): Promise<void> {
  await tx.query(`update webhook_course c set asked_back = c.leased_until is not null where ${ofAccount}`, [accountId]);
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
 * In the transaction that enables the account: its webhooks continue where they stopped. Time in which they could not
 * succeed does not count as failing.
 */
export async function resumeWebhooks(tx: Tx, accountId: string, nowMs: number): Promise<void> {
  await tx.query(
    `update webhook_course c set due_at = least(c.due_at, $2),
       failing_since = case when c.failing_since is not null then $2::timestamptz end
     where ${ofAccount}`,
    [accountId, toTimestamp(nowMs)],
  );
  await notifyWorkers(tx);
}
