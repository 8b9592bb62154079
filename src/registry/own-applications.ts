import { type Database, type Note, noted, type Tx } from '../platform/database/database.ts';
import { notFound } from '../platform/errors.ts';
import { isId } from '../platform/ids.ts';
import type { Application } from './application.ts';
import type { ChangeFeed } from './change-feed.ts';
import { findApplication, lockApplication } from './registry-store.ts';

/** The applications of an account. Another account's application, or text that is no id, is not found. */
export interface OwnApplications {
  require(accountId: string, id: string): Promise<Application>;
  /** Changes of one application run one at a time. After one returns, no node acts on the old state. */
  change<Result>(
    accountId: string,
    id: string,
    work: (tx: Tx) => Promise<Result>,
    note?: Note<Result>,
  ): Promise<Result>;
}

export function createOwnApplications(database: Database, feed: Pick<ChangeFeed, 'change'>): OwnApplications {
  return {
    async require(accountId, id) {
      const application = isId('app', id) ? await findApplication(database, accountId, id) : undefined;
      if (application === undefined) throw notFound();
      return application;
    },

    async change(accountId, id, work, note) {
      if (!isId('app', id)) throw notFound();
      return feed.change(id, async (tx) => {
        if (!(await lockApplication(tx, accountId, id))) throw notFound();
        return noted(work, note)(tx);
      });
    },
  };
}
