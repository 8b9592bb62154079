import type { Database } from '../../platform/database/database.ts';
import { type Listener, openListener } from '../../platform/database/listener.ts';
import type { Log } from '../../platform/log.ts';
import { carriersChannel } from './store.ts';

/** Reads the rows of carriers on each NOTIFY. Polling finds changes whose NOTIFY was lost. */
export interface CarrierPoll {
  /** Resolves after the first read. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Reads now. Resolves after a read that began after this call. */
  refresh(): Promise<void>;
}

export interface CarrierPollOptions {
  database: Database;
  log: Log;
  /** Reads the rows. Returns whether anything has changed. */
  read: () => Promise<boolean>;
}

const quickMs = 1000;
/** A change acts on every node within 2 s, the read included. */
const slowMs = 1800;
const quickReads = 30;

export function createCarrierPoll({ database, log, read }: CarrierPollOptions): CarrierPoll {
  let reading: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let unchangedReads = 0;
  let stopped = false;
  let listener: Listener | undefined;

  function refresh(): Promise<void> {
    if (reading === undefined) {
      reading = readOnce().finally(() => {
        reading = undefined;
      });
      return reading;
    }
    // The read under way may have missed the newest change: one more follows it, for all callers until then.
    next ??= reading.then(() => {
      next = undefined;
      return stopped ? undefined : refresh();
    });
    return next;
  }

  async function readOnce(): Promise<void> {
    try {
      unchangedReads = (await read()) ? 0 : unchangedReads + 1;
    } catch (error) {
      unchangedReads = 0;
      log.debug({ reason: (error as Error).message }, 'the carriers could not be read; the last ones stay in use');
    }
  }

  function schedule(): void {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(readNow, unchangedReads < quickReads ? quickMs : slowMs).unref();
  }

  function readNow(): void {
    void refresh().finally(schedule);
  }

  return {
    refresh,
    async start() {
      listener = await openListener({ database, channel: carriersChannel, onNotified: readNow });
      await refresh();
      schedule();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await listener?.stop();
      await reading;
    },
  };
}
