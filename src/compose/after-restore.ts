import { createAudit } from '../accounts/audit/audit.ts';
import { endWaitingTexts } from '../delivery/queue/after-restore.ts';
import { leapOverLostEvents } from '../events/after-restore.ts';
import { withdrawSigningKeys } from '../identity/after-restore.ts';
import type { Clock } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { suspendCredentials } from '../registry/suspended-credentials.ts';
import { endPendingVerifications } from '../verify/after-restore.ts';
import { endLeases } from '../webhooks/after-restore.ts';

export interface RestoredStore {
  texts: number;
  verifications: number;
  /** API keys and client secrets that are suspended. */
  credentials: number;
}

/**
 * Suspends credentials, and ends codes and texts: an old store cannot know which were deleted, used or sent since the
 * backup. Runs in the transaction of the restore (decision 0028).
 */
export async function afterRestore(
  tx: Tx,
  options: { clock: Clock; madeAt: string; trustCredentials: boolean },
): Promise<RestoredStore> {
  const { clock, madeAt, trustCredentials } = options;
  const nowMs = clock.nowMs();
  // First, because the changes below emit events.
  await leapOverLostEvents(tx, nowMs);
  await endLeases(tx);
  const verifications = await endPendingVerifications(tx, nowMs);
  const texts = await endWaitingTexts(tx, nowMs);
  if (!trustCredentials) await withdrawSigningKeys(tx);
  const credentials = trustCredentials ? 0 : await suspendCredentials(tx, nowMs);
  const restored = { texts, verifications, credentials };
  const details = { made_at: madeAt, trusts_credentials: trustCredentials, ...restored };
  await createAudit({ clock }).recordByMachine(tx, { act: 'backup.restored', id: madeAt, details });
  return restored;
}
