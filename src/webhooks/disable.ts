// Tests: test/parts/webhook-worker.test.ts
import { stopListening } from '../events/listener-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import type { Log } from '../platform/log.ts';
import { askBack, type LeaseProgress, notifyWorkers, recordProgress } from './lease-store.ts';
import { hopelessAfterMs } from './pace.ts';
import { feedKeepsListeningMs } from './service.ts';
import { disableWebhook, findApplicationOf, findHopeless } from './store.ts';
import type { DisabledReason } from './webhook.ts';

interface DisableOptions {
  database: Database;
  clock: Clock;
  log: Log;
}

/** Disables a webhook. If its application has no other, it stops listening. */
async function disable(tx: Tx, id: string, reason: DisabledReason, nowMs: number): Promise<boolean> {
  const applicationId = await findApplicationOf(tx, id);
  // Locks the webhook before its lease, in the order in which changes by the owner lock them.
  if (applicationId === undefined || !(await disableWebhook(tx, id, reason, nowMs))) return false;
  await stopListening(tx, nowMs - feedKeepsListeningMs, applicationId);
  return true;
}

/** For the worker that holds the webhook: records its progress and disables it in one transaction. */
export function createDisable({ database, clock, log }: DisableOptions) {
  return async (progress: LeaseProgress, reason: DisabledReason): Promise<boolean> => {
    const { webhookId } = progress;
    const recorded = await database.transaction(async (tx) => {
      const disabled = await disable(tx, webhookId, reason, clock.nowMs());
      const recorded = await recordProgress(tx, progress);
      if (disabled && recorded === undefined) throw new Error('another worker has the claim');
      return recorded !== undefined;
    });
    log.warn({ webhook: webhookId, reason }, 'a webhook was disabled');
    return recorded;
  };
}

/** For a chore: disables webhooks without a success for too long, even if their next attempt is hours away. */
export function createDisableHopeless({ database, clock, log }: DisableOptions): () => Promise<number> {
  return async () => {
    const nowMs = clock.nowMs();
    const hopeless = await findHopeless(database, nowMs - hopelessAfterMs);
    for (const { id } of hopeless) {
      await database.transaction(async (tx) => {
        await disable(tx, id, 'no_success', nowMs);
        await askBack(tx, id);
        await notifyWorkers(tx);
      });
      log.warn({ webhook: id, reason: 'no_success' }, 'a webhook was disabled');
    }
    return hopeless.length;
  };
}
