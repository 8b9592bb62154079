import type { Tx } from '../platform/database/database.ts';

/** Ends every lease: the workers that held them are gone. */
export async function endLeases(tx: Tx): Promise<void> {
  await tx.query('update webhook_course set claim = claim + 1, leased_until = null, asked_back = false');
}
