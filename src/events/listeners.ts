// Tests: test/races/events.test.ts, test/contract/event-feed.test.ts
import { type Clock, hourMs } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { unavailable } from '../platform/errors.ts';
import { addListener, findListener, type Listener, noteBegun, noteFeedRead } from './listener-store.ts';
import { findRunning } from './running-transactions.ts';

/** Which applications listen: every change of their records writes an event. */
export interface Listeners {
  /**
   * Notes a read of the feed: the application listens for seven more days. Resolves when every change has its event.
   */
  readFeed(applicationId: string): Promise<Listener>;
  /** For an application that `addListener` has added: resolves when every change has its event. */
  begin(applicationId: string): Promise<void>;
}

export interface ListenersOptions {
  database: Database;
  clock: Clock;
  /** The pause between polls that wait for earlier statements to end. */
  pause?: () => Promise<void>;
}

/** Minimum time between two notes of a read. */
const notedEveryMs = hourMs;
const maxPolls = 250;
const betweenPollsMs = 20;

export function createListeners(options: ListenersOptions): Listeners {
  const { database, clock } = options;
  const pause = options.pause ?? (() => new Promise<void>((resolve) => setTimeout(resolve, betweenPollsMs)));

  /**
   * A statement that began before the listener was committed does not see it, and may change a record without an event.
   * So listening begins when all such statements have ended; their time limit is a few seconds.
   */
  async function begin(applicationId: string): Promise<void> {
    const before = await findRunning(database);
    for (let polls = 0; before.size > 0; polls++) {
      if (polls === maxPolls) throw unavailable('The service could not begin to record events yet. Try again shortly.');
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
        // It stopped listening meanwhile, so it starts again.
        return this.readFeed(applicationId);
      if (!listener.begun) await begin(applicationId);
      return listener;
    },
  };
}
