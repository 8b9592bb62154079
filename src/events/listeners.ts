import { type Clock, hourMs } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { unavailable } from '../platform/errors.ts';
import { addListener, findListener, type Listener, noteBegun, noteFeedRead } from './listener-store.ts';
import { findRunning } from './running-transactions.ts';

/** Which applications listen. Where one does, every change of its records writes an event. */
export interface Listeners {
  /** A read of the feed: the application listens for seven days more. Resolves when every change has its event. */
  readFeed(applicationId: string): Promise<Listener>;
  /** For an application that `addListener` has added: resolves when every change has its event. */
  begin(applicationId: string): Promise<void>;
}

export interface ListenersOptions {
  database: Database;
  clock: Clock;
  /** Waits before it looks again whether earlier statements have ended. */
  pause?: () => Promise<void>;
}

/** A read is noted once in this time. */
const notedEveryMs = hourMs;
const looksAtMost = 250;
const betweenLooksMs = 20;

export function createListeners(options: ListenersOptions): Listeners {
  const { database, clock } = options;
  const pause = options.pause ?? (() => new Promise<void>((resolve) => setTimeout(resolve, betweenLooksMs)));

  /**
   * A statement that began before the listener was committed does not see it, and may still change a record without an
   * event. So listening begins when all of them have ended. None runs longer than its time limit of a few seconds.
   */
  async function begin(applicationId: string): Promise<void> {
    const before = await findRunning(database);
    for (let look = 0; before.size > 0; look++) {
      if (look === looksAtMost) throw unavailable('Listening could not begin yet. Try again shortly.');
      const running = await findRunning(database);
      if (![...before].some((transaction) => running.has(transaction))) break;
      await pause();
    }
    await noteBegun(database, applicationId);
  }

  return {
    begin,
    async readFeed(applicationId) {
      const found = await findListener(database, applicationId);
      const listener = found ?? (await addListener(database, applicationId));
      const nowMs = clock.nowMs();
      if ((listener.feedReadAtMs ?? 0) + notedEveryMs <= nowMs && !(await noteFeedRead(database, applicationId, nowMs)))
        // It stopped listening at this moment: it begins anew.
        return this.readFeed(applicationId);
      if (!listener.begun) await begin(applicationId);
      return listener;
    },
  };
}
