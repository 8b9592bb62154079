import type { ClientBase } from 'pg';
import { NotReplicated } from '../errors.ts';

/** The SQLSTATE of the warning that a commit did not wait for its synchronous standby: a failover may still lose it. */
const cancelledWait = '01000';
/**
 * The source file that Postgres names in this warning: functions in a database may raise warnings with the same SQLSTATE.
 */
const sourceOfWait = 'syncrep.c';

/** Finds commits that no standby has confirmed. Costs nothing while there are none. */
export interface CommitWatch {
  watch(client: ClientBase): void;
  /** Call before a COMMIT: forgets the warnings of earlier statements. */
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
