import type { Database } from '../platform/database.ts';
import { ApiError } from '../platform/errors.ts';
import { insertTraces, newestPerApplication, pruneTraces, type RequestTrace } from './metering-store.ts';

/** What became of the latest requests: noted in memory, written down together. */
export interface RequestTraces {
  note(trace: RequestTrace): void;
  flush(): Promise<void>;
}

/** Over all applications. What comes on top while the database is away is not noted. */
const mostWaiting = 50_000;

export function createRequestTraces(database: Database): RequestTraces {
  let waiting = new Map<string, RequestTrace[]>();
  let size = 0;

  function note(trace: RequestTrace): void {
    if (size >= mostWaiting) return;
    const own = waiting.get(trace.applicationId);
    if (own === undefined) waiting.set(trace.applicationId, [trace]);
    else own.push(trace);
    size++;
    // Twice what is kept, so that forgetting the older half is a rare event.
    if (own !== undefined && own.length >= 2 * newestPerApplication) {
      own.splice(0, own.length - newestPerApplication);
      size -= newestPerApplication;
    }
  }

  return {
    note,
    async flush() {
      if (size === 0) return;
      const batch = waiting;
      waiting = new Map();
      size = 0;
      const traces = [...batch.values()].flatMap((own) => own.slice(-newestPerApplication));
      try {
        await insertTraces(database, traces);
      } catch (error) {
        // What the database will never take must not stand in the way of all that comes after it.
        if (!(error instanceof ApiError && error.code === 'UNAVAILABLE')) throw error;
        const since = [...waiting.values()].flat();
        waiting = new Map();
        size = 0;
        for (const trace of [...traces, ...since]) note(trace);
        throw error;
      }
      await pruneTraces(database, [...batch.keys()]);
    },
  };
}
