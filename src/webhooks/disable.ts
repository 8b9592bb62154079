// Tests: test/parts/webhook-worker.test.ts
import { stopListening } from '../events/listener-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import type { Log } from '../platform/log.ts';
import { askBack, type LeaseProgress, notifyWorkers, recordProgress } from './lease-store.ts';
import { type Disabling, disableWebhook, findHopeless, lockForDisabling } from './store.ts';
import { feedKeepsListeningMs } from './webhook.ts';

interface DisableOptions {
  database: Database;
  clock: Clock;
  log: Log;
}

/** Disables a webhook. If its application has no other, it stops listening. */
async function disable(tx: Tx, id: string, disabling: Disabling, nowMs: number): Promise<boolean> {
  // Locks the webhook before its lease, in the order in which changes by the owner lock them.
  const applicationId = await lockForDisabling(tx, id);
  // A second statement, because only a new one sees what such a change committed while this waited for the lock.
  if (applicationId === undefined || !(await disableWebhook(tx, id, disabling, nowMs))) return false;
  await stopListening(tx, nowMs - feedKeepsListeningMs, applicationId);
  return true;
}

/**
 * For the worker that holds the webhook: records its progress and disables it in one transaction, unless a change has
 * removed the reason meanwhile.
 */
export function createDisable({ database, clock, log }: DisableOptions) {
  return async (progress: LeaseProgress, disabling: Disabling): Promise<boolean> => {
    const { webhookId } = progress;
    const { reason } = disabling;
    const { disabled, recorded } = await database.transaction(async (tx) => {
      const disabled = await disable(tx, webhookId, disabling, clock.nowMs());
      const recorded = (await recordProgress(tx, progress)) !== undefined;
      if (disabled && !recorded) throw new Error('another worker has the claim');
      return { disabled, recorded };
    });
    if (disabled) log.warn({ webhook: webhookId, reason }, 'a webhook was disabled');
    return recorded;
  };
}

/** Disables a webhook that a worker may hold, and asks that worker to give it back. */
export async function disableAndAskBack(tx: Tx, id: string, disabling: Disabling, nowMs: number): Promise<boolean> {
  const disabled = await disable(tx, id, disabling, nowMs);
  if (disabled) {
    await askBack(tx, id);
    await notifyWorkers(tx);
  }
  return disabled;
}

/** For a chore: disables webhooks without a success for too long, even if their next attempt is hours away. */
export function createDisableHopeless({ database, clock, log }: DisableOptions): () => Promise<number> {
  return async () => {
    const nowMs = clock.nowMs();
    const hopeless = await findHopeless(database, nowMs);
    let count = 0;
    for (const { id } of hopeless) {
      const disabled = await database.transaction((tx) => disableAndAskBack(tx, id, { reason: 'no_success' }, nowMs));
      if (!disabled) continue;
      count++;
      log.warn({ webhook: id, reason: 'no_success' }, 'a webhook was disabled');
    }
    return count;
  };
}
