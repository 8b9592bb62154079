import type { Log } from '../../platform/log.ts';
import { createPoller } from '../../platform/work/poller.ts';

/** Something that is sent to readers when it happens. It is rendered once for all of them. */
export interface LiveItem {
  applicationId: string;
  /** Orders the items. */
  position: number;
  /** The item as a server-sent event. */
  written: string;
}

/** Items in order; no other item has a position up to `readTo`. */
export interface Piece<Item> {
  items: Item[];
  readTo: number;
  /** Whether more may follow already. */
  more: boolean;
}

/** Pushes new items to listeners. One query and one rendering serve all of them. */
export interface LiveFeed<Item, Filter> {
  /**
   * From the returned position on, the listener gets every item. `after` is where the listener wants to continue: a feed
   * without other listeners begins there.
   */
  subscribe(listener: LiveListener<Item, Filter>, after?: number): Promise<Subscription>;
  /** Ends every subscription, when the service stops. */
  stop(): void;
}

export interface LiveListener<Item, Filter> {
  applicationId: string;
  filter: Filter;
  /** The items that match, in order, and the position up to which the feed has read. There may be none. */
  onItems(items: Item[], readTo: number): void;
  onEnd(): void;
}

export interface Subscription {
  /** The listener gets the items after this position. */
  from: number;
  leave(): void;
}

/** The filters of the listeners, by application. */
export type Wanted<Filter> = ReadonlyMap<string, readonly Filter[]>;

export interface LiveFeedOptions<Item, Filter> {
  /** Returns the position at which the feed begins to read. */
  start(after: number | undefined): Promise<number>;
  /** The next items of these applications. It may leave out what no filter matches. */
  readAfter(position: number, wanted: Wanted<Filter>): Promise<Piece<Item>>;
  matches(filter: Filter, item: Item): boolean;
  log: Log;
}

/** How far the feed has read; it exists while there are listeners. */
interface Reading {
  position: number;
  /** Listeners that subscribe during a read: it may lack their items, so they begin after it. */
  joining: (() => void)[] | undefined;
}

const pollEveryMs = 100;

export function createLiveFeed<Item extends LiveItem, Filter>(
  options: LiveFeedOptions<Item, Filter>,
): LiveFeed<Item, Filter> {
  const { start, readAfter, matches, log } = options;
  const listeners = new Set<LiveListener<Item, Filter>>();
  let beginning: Promise<Reading> | undefined;
  /** Number of listeners, with those that are about to subscribe. */
  let interested = 0;
  let stopped = false;

  /** Pushes one batch. After a failure the next read starts at the same place. Returns whether there is more. */
  async function pushPiece(reading: Reading): Promise<boolean> {
    reading.joining = [];
    try {
      const { items, readTo, more } = await readAfter(
        reading.position,
        byApplication(listeners, ({ filter }) => filter),
      );
      const itemsOf = byApplication(items, (item) => item);
      reading.position = readTo;
      for (const listener of [...listeners]) {
        const own = itemsOf.get(listener.applicationId) ?? [];
        const matching = own.filter((item) => matches(listener.filter, item));
        if (listeners.has(listener)) listener.onItems(matching, readTo);
      }
      return more;
    } finally {
      const { joining } = reading;
      reading.joining = undefined;
      for (const join of joining) join();
    }
  }

  function follow(reading: Reading): void {
    const poller = createPoller({
      async run() {
        if (interested > 0) while ((await pushPiece(reading)) && listeners.size > 0);
        else {
          beginning = undefined;
          void poller.stop();
        }
      },
      pauseMs: pollEveryMs,
      onFailure: ({ message: reason }) => log.debug({ reason }, 'new items could not be read'),
    });
    poller.start();
  }

  function begin(after: number | undefined): Promise<Reading> {
    const begun = start(after).then((position): Reading => ({ position, joining: undefined }));
    begun.then(follow, () => {
      beginning = undefined;
    });
    return begun;
  }

  async function join(listener: LiveListener<Item, Filter>, after: number | undefined): Promise<number> {
    beginning ??= begin(after);
    const reading = await beginning;
    return new Promise((resolve) => {
      const joinNow = () => {
        listeners.add(listener);
        resolve(reading.position);
      };
      if (reading.joining === undefined) joinNow();
      else reading.joining.push(joinNow);
    });
  }

  return {
    async subscribe(listener, after) {
      if (stopped) {
        listener.onEnd();
        return { from: after ?? 0, leave: () => {} };
      }
      interested++;
      try {
        const from = await join(listener, after);
        if (stopped) listener.onEnd();
        return {
          from,
          leave: () => {
            if (listeners.delete(listener)) interested--;
          },
        };
      } catch (error) {
        interested--;
        throw error;
      }
    },
    stop() {
      stopped = true;
      for (const listener of listeners) listener.onEnd();
      interested -= listeners.size;
      listeners.clear();
    },
  };
}

function byApplication<Of extends { applicationId: string }, Value>(
  all: Iterable<Of>,
  pick: (each: Of) => Value,
): Map<string, Value[]> {
  const grouped = new Map<string, Value[]>();
  for (const each of all) {
    const others = grouped.get(each.applicationId);
    if (others === undefined) grouped.set(each.applicationId, [pick(each)]);
    else others.push(pick(each));
  }
  return grouped;
}
