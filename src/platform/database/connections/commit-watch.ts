import type { ClientBase } from 'pg';
import { NotReplicated } from '../errors.ts';

/** What Postgres says when a commit stops waiting for its synchronous standby: it is there, and may still be lost. */
const cancelledWait = '01000';
/** Where that comes from. Any function of a database may warn with the same number. */
const sourceOfWait = 'syncrep.c';

/** Finds commits that no standby has confirmed. Costs nothing while there are none. */
export interface CommitWatch {
  watch(client: ClientBase): void;
  /** Before a COMMIT: forgets what earlier statements said. */
  begin(client: ClientBase): void;
  /** Throws if the statement that has just succeeded committed without its standby. */
  require(client: ClientBase): void;
}

export function createCommitWatch(): CommitWatch {
  const unconfirmed = new Set<ClientBase>();
  return {
    watch(client) {
      client.on('notice', ({ code, file }) => {
        if (code === cancelledWait && (file === undefined || file === sourceOfWait)) unconfirmed.add(client);
      });
    },
    begin(client) {
      if (unconfirmed.size > 0) unconfirmed.delete(client);
    },
    require(client) {
      if (unconfirmed.size > 0 && unconfirmed.delete(client)) throw new NotReplicated();
    },
  };
}
