import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import { deleteBeyond } from './unmatched-store.ts';

/** Keeps the receipts of an account that match no text from filling the disk. */
export interface UnmatchedCap {
  /** So many were added; resolves when the account has no more than the cap and `lookEvery` for each process. */
  note(account: string, added: number): Promise<number>;
}

export interface UnmatchedCapOptions {
  database: Database;
  log?: Pick<Log, 'warn'> | undefined;
  most?: number;
  lookEvery?: number;
}

const mostAccounts = 1000;

/** Looks only after so many additions, because a look reads as many index entries as there are receipts. */
export function createUnmatchedCap(options: UnmatchedCapOptions): UnmatchedCap {
  const { database, log, most = 100_000, lookEvery = 1000 } = options;
  const unseen = new Map<string, number>();

  return {
    async note(account, added) {
      // A process that has just started does not know how many there are.
      const since = (unseen.get(account) ?? lookEvery) + added;
      if (unseen.size >= mostAccounts) unseen.clear();
      unseen.set(account, since < lookEvery ? since : 0);
      if (since < lookEvery) return 0;
      // They are on disk, and the next look comes: a failure changes nothing for the carrier.
      const dropped = await deleteBeyond(database, account, most).catch(() => 0);
      if (dropped > 0)
        log?.warn({ account, dropped, most }, 'receipts that match no text were dropped: the account has too many');
      return dropped;
    },
  };
}
