import type { Database } from '../../platform/database/database.ts';
import { type Listener, openListener } from '../../platform/database/listener.ts';
import type { Log } from '../../platform/log.ts';
import { createPoller } from '../../platform/work/poller.ts';
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
  let unchangedReads = 0;
  const poller = createPoller({ run: readOnce, pauseMs: () => (unchangedReads < quickReads ? quickMs : slowMs) });
  let listener: Listener | undefined;

  async function readOnce(): Promise<void> {
    try {
      unchangedReads = (await read()) ? 0 : unchangedReads + 1;
    } catch (error) {
      unchangedReads = 0;
      log.debug({ reason: (error as Error).message }, 'the carriers could not be read; those read last stay in use');
    }
  }

  return {
    refresh: poller.poll,
    async start() {
      listener = await openListener({ database, channel: carriersChannel, onNotified: () => void poller.poll() });
      await poller.poll();
      poller.start();
    },
    async stop() {
      await listener?.stop();
      await poller.stop();
    },
  };
}
