import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import { deleteBeyond } from './unmatched-store.ts';

export interface UnmatchedCapOptions {
  database: Database;
  log?: Pick<Log, 'warn'> | undefined;
  most?: number;
  checkEvery?: number;
}

const mostAccounts = 1000;

/**
 * Limits the unmatched receipts of an account, so that they do not fill the disk. Checks only after `checkEvery`
 * additions, because a check reads one index entry per receipt.
 */
export function createUnmatchedCap(options: UnmatchedCapOptions) {
  const { database, log, most = 100_000, checkEvery = 1000 } = options;
  const unseen = new Map<string, number>();

  return {
    /** Counts added receipts; resolves when the account has at most the cap plus `checkEvery` per process. */
    async note(account: string, added: number): Promise<number> {
      // A new process does not know how many receipts there are.
      const since = (unseen.get(account) ?? checkEvery) + added;
      if (unseen.size >= mostAccounts) unseen.clear();
      unseen.set(account, since < checkEvery ? since : 0);
      if (since < checkEvery) return 0;
      // The receipts are on disk, and the next check follows: a failure changes nothing for the carrier.
      const dropped = await deleteBeyond(database, account, most).catch(() => 0);
      if (dropped > 0)
        log?.warn({ account, dropped, most }, 'receipts that match no text were dropped: the account has too many');
      return dropped;
    },
  };
}
