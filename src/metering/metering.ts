import type { CountedRequest } from '../http/admission.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Log } from '../platform/log.ts';
import { createPoller } from '../platform/work/poller.ts';
import { createTraceBuffer } from './trace-buffer.ts';
import { createUsageCounts } from './usage-counts.ts';

/** Counts usage and records requests. No request waits for it: everything is kept in memory first. */
export interface Metering {
  /** Called once, when a counted request has been answered. */
  note(request: CountedRequest): void;
  /** Writes everything at once, so that a reader sees the latest requests of this node. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

const flushEveryMs = 5000;

export function createMetering(options: { database: Database; clock: Clock; log: Log }): Metering {
  const { database, clock, log } = options;
  const counts = createUsageCounts(options);
  const traces = createTraceBuffer(database, clock);
  let flushing: Promise<void> = Promise.resolve();
  /** A full flush that has not begun. */
  let nextFlush: Promise<void> | undefined;

  /** Flushes run one at a time: two at once could write an older count after a newer one. */
  function flush(what: 'due' | 'all'): Promise<void> {
    const next = flushing
      .catch(() => {})
      .then(async () => {
        if (what === 'all') nextFlush = undefined;
        await counts.flush();
        await traces.flush(what);
      });
    flushing = next;
    return next;
  }

  /** Readers that ask before the next flush begins share it. */
  function flushAll(): Promise<void> {
    nextFlush ??= flush('all');
    return nextFlush;
  }

  const poller = createPoller({
    run: () => flush('due'),
    pauseMs: flushEveryMs,
    onFailure: ({ message: reason }) => log.debug({ reason }, 'usage not written; will retry'),
  });
  poller.start();

  return {
    note(request) {
      if (!request.isUnserved) counts.count(request.caller, request.decision);
      traces.add(request);
    },
    flush: flushAll,
    async stop() {
      await poller.stop();
      await flush('all').catch((error: Error) =>
        log.warn({ reason: error.message }, 'the last usage could not be written'),
      );
    },
  };
}
