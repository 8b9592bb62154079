// Tests: test/contract/portal-upkeep.test.ts
import { type Clock, toTimestamp } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { idFloor } from '../platform/ids.ts';
import { pieceRows } from '../platform/work/maintenance.ts';
import { deleteOldEntries } from './audit/store.ts';
import { addressKnownMs, forgottenAfterMs } from './sign-in/throttle.ts';

/**
 * Maximum rows of failed sign-ins to keep. An attacker with many addresses can invent e-mails as fast as we hash
 * passwords; beyond this the oldest rows are deleted early.
 */
export const mostSignInTries = 100_000;

/** Deletes expired rows in small batches. No request reads them. */
export function createPortalUpkeep(database: Database, clock: Clock, mostTries = mostSignInTries) {
  const deleteOlder = async (text: string, beforeMs: number) =>
    (await database.query(text, [toTimestamp(beforeMs), pieceRows])).count;

  /** The time of the oldest row to keep. */
  async function oldestKeptMs(): Promise<number> {
    const { rows } = await database.query<{ lastFailedAtMs: number }>(selectOldestKept, [mostTries - 1]);
    return Math.max(clock.nowMs() - forgottenAfterMs, rows[0]?.lastFailedAtMs ?? 0);
  }

  let keptFromMs: number | undefined;
  return {
    deleteDeadSessions: () => deleteOlder(deleteSessions, clock.nowMs() + 1),
    deleteDeadLinks: () => deleteOlder(deleteLinks, clock.nowMs() + 1),
    deleteDeadInvitations: () => deleteOlder(deleteInvitations, clock.nowMs() + 1),
    deleteOldAudit: (keptFromMs: number) => deleteOldEntries(database, idFloor('aud', keptFromMs)),
    deleteOldAddresses: () => deleteOlder(deleteAddresses, clock.nowMs() - addressKnownMs),

    async deleteOldTries(): Promise<number> {
      // Finds this once per round, because it reads as many index entries as there are rows to keep.
      keptFromMs ??= await oldestKeptMs();
      const count = await deleteOlder(deleteTries, keptFromMs);
      if (count === 0) keptFromMs = undefined;
      return count;
    },
  };
}

const deletePiece = (table: string, time: string) =>
  `delete from ${table} where ctid = any(array(select ctid from ${table} where ${time} < $1 limit $2))`;

const deleteSessions = deletePiece('session', 'expires_at');
const deleteLinks = deletePiece('one_time_link', 'expires_at');
const deleteInvitations = deletePiece('invitation', 'expires_at');
const deleteAddresses = deletePiece('known_address', 'seen_at');
const deleteTries = deletePiece('sign_in_throttle', 'last_failed_at');

const selectOldestKept =
  'select last_failed_at as "lastFailedAtMs" from sign_in_throttle order by last_failed_at desc offset $1 limit 1';
