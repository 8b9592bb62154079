import type { CountedRequest } from '../http/admission.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { ApiError } from '../platform/errors.ts';
import { insertTraces, newestPerApplication, pruneTraces } from './metering-store.ts';

/** The latest requests of each application: kept in memory, written in portions. */
export interface TraceBuffer {
  add(request: CountedRequest): void;
  /** Writes what is due, or everything. */
  flush(what: 'due' | 'all'): Promise<void>;
}

/** The requests of one application since the last write. */
interface Waiting {
  applicationId: string;
  sinceMs: number;
  /** The newest, as a ring once it is full. */
  requests: CountedRequest[];
  /** Where the next request goes in a full ring: the oldest is there. */
  oldest: number;
}

/** Over all applications. Further requests are dropped while the database is away. */
const mostWaiting = 50_000;
/** An application above this count replaces most of its traces before a reader sees them, so they wait longer. */
const busy = 200;
const busyWaitMs = 30_000;
const writtenTogether = 2000;

export function createTraceBuffer(database: Database, clock: Clock): TraceBuffer {
  let waiting = new Map<string, Waiting>();
  let size = 0;

  function open(applicationId: string): Waiting {
    const opened = { applicationId, sinceMs: clock.steadyMs(), requests: [], oldest: 0 };
    waiting.set(applicationId, opened);
    return opened;
  }

  function take(what: 'due' | 'all'): Waiting[] {
    const taken: Waiting[] = [];
    const left = new Map<string, Waiting>();
    const busySinceMs = clock.steadyMs() - busyWaitMs;
    for (const each of waiting.values()) {
      const isDue = what === 'all' || each.requests.length <= busy || each.sinceMs <= busySinceMs;
      if (isDue) taken.push(each);
      else left.set(each.applicationId, each);
    }
    waiting = left;
    size = countOf([...left.values()]);
    return taken;
  }

  /** Puts requests back before newer ones, as far as there is room. */
  function putBack(taken: Waiting[]): void {
    for (const each of taken) {
      if (size >= mostWaiting) return;
      const newer = waiting.get(each.applicationId);
      if (newer !== undefined) {
        each.requests = [...inOrder(each), ...inOrder(newer)].slice(-newestPerApplication);
        each.oldest = 0;
        size -= newer.requests.length;
      }
      waiting.set(each.applicationId, each);
      size += each.requests.length;
    }
  }

  /** Writes in portions, so that no request waits behind a large write. */
  async function write(taken: Waiting[]): Promise<void> {
    for (let from = 0; from < taken.length; ) {
      let to = from;
      const portion: CountedRequest[] = [];
      while (to < taken.length && portion.length < writtenTogether) portion.push(...inOrder(taken[to++] as Waiting));
      try {
        await insertTraces(database, portion);
        const written = taken.slice(from, to).map(({ applicationId }) => applicationId);
        from = to;
        await pruneTraces(database, written);
      } catch (error) {
        const away = error instanceof ApiError && error.code === 'UNAVAILABLE';
        // Skip a portion that Postgres rejects, so that it does not block all later ones. Retry only if it is away.
        putBack(taken.slice(away ? from : to));
        throw error;
      }
    }
  }

  return {
    add(request) {
      if (size >= mostWaiting) return;
      const { applicationId } = request.caller;
      const each = waiting.get(applicationId) ?? open(applicationId);
      if (each.requests.length < newestPerApplication) {
        each.requests.push(request);
        size++;
      } else {
        each.requests[each.oldest] = request;
        each.oldest = (each.oldest + 1) % newestPerApplication;
      }
    },
    flush: (what) => write(take(what)),
  };
}

function inOrder({ requests, oldest }: Waiting): CountedRequest[] {
  return oldest === 0 ? requests : [...requests.slice(oldest), ...requests.slice(0, oldest)];
}

function countOf(all: Waiting[]): number {
  return all.reduce((sum, { requests }) => sum + requests.length, 0);
}
