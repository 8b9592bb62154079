import type { Clock } from './clock.ts';
import type { Database, Tx } from './database.ts';
import { isConnectionLoss, sqlStateOf } from './database-errors.ts';
import { ApiError, unavailable } from './errors.ts';

export interface Batch<Item, Result> {
  /** Resolves once the item's batch has committed. */
  submit(item: Item): Promise<Result>;
  /** Resolves when nothing is waiting or under way. */
  drain(): Promise<void>;
}

export interface BatchOptions<Item, Result> {
  database: Database;
  clock: Clock;
  /**
   * What an item touches that another item might touch too: a record's id, an application and number, an idempotency
   * key. Items with an equal key never share a batch, because one statement sees only the state before it: five checks
   * of one code would spend one try.
   */
  keysOf: (item: Item) => string[];
  /**
   * One statement, or a few, for all the items; results in the order of the items. It may run twice for the same items
   * after a lost connection, so inserts take their ids from the item and say `on conflict (id) do nothing`.
   */
  run: (tx: Tx, items: Item[]) => Promise<Result[]>;
  maxItems?: number;
  maxWaiting?: number;
}

interface Waiting<Item, Result> {
  item: Item;
  keys: string[];
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** A second run is only worth it while the caller can still be answered within 5 s. */
const rerunWithinMs = 1500;
const deadlockTries = 5;

/**
 * Group commit: what arrives while a commit is under way goes out together in the next one, so the cost of a commit is
 * shared by all who wait for it. One batch at a time: a second in flight only makes both smaller.
 */
export function createBatch<Item, Result>(options: BatchOptions<Item, Result>): Batch<Item, Result> {
  const { database, clock, keysOf, run, maxItems = 500, maxWaiting = 20_000 } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let busy = false;
  const onIdle: (() => void)[] = [];

  function submit(item: Item): Promise<Result> {
    if (waiting.length >= maxWaiting) {
      return Promise.reject(unavailable('The service has more to write down than it can. Try again shortly.'));
    }
    return new Promise((resolve, reject) => {
      waiting.push({ item, keys: keysOf(item), resolve, reject });
      if (busy) return;
      busy = true;
      // Requests read from their sockets in the same turn of the event loop come along.
      setImmediate(() => void flush());
    });
  }

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const chosen = takeNext();
      try {
        settle(chosen, await commit(chosen));
      } catch (error) {
        for (const { reject } of chosen) reject(error);
        // The database is away. Whoever waits behind would run into the same timeout, one batch after another.
        if (error instanceof ApiError) rejectWaiting(error);
      }
    }
    busy = false;
    for (const idle of onIdle.splice(0)) idle();
  }

  /** The oldest items of which no two share a key, sorted by key so that two nodes lock rows in the same order. */
  function takeNext(): Waiting<Item, Result>[] {
    const taken = new Set<string>();
    const chosen: Waiting<Item, Result>[] = [];
    const left: Waiting<Item, Result>[] = [];
    for (const entry of waiting) {
      const free = chosen.length < maxItems && !entry.keys.some((key) => taken.has(key));
      // The keys of one that has to wait are taken as well: nobody behind it may overtake it.
      for (const key of entry.keys) taken.add(key);
      (free ? chosen : left).push(entry);
    }
    waiting = left;
    return chosen.sort((a, b) => compare(a.keys[0], b.keys[0]));
  }

  function settle(chosen: Waiting<Item, Result>[], results: Outcome<Result>[]): void {
    chosen.forEach(({ resolve, reject }, index) => {
      const outcome = results[index];
      if (outcome === undefined) reject(new Error('the batch returned fewer results than it had items'));
      else if ('error' in outcome) reject(outcome.error);
      else resolve(outcome.value);
    });
  }

  function rejectWaiting(error: unknown): void {
    for (const { reject } of waiting.splice(0)) reject(error);
  }

  async function commit(chosen: Waiting<Item, Result>[]): Promise<Outcome<Result>[]> {
    const items = chosen.map(({ item }) => item);
    const startedMs = clock.steadyMs();
    let rerun = false;
    for (let tries = 1; ; tries++) {
      try {
        const values = await database.transaction((tx) => run(tx, items));
        return values.map((value) => ({ value }));
      } catch (error) {
        const state = sqlStateOf(error);
        if ((state === '40P01' || state === '40001') && tries < deadlockTries) continue;
        if (isConnectionLoss(error) && !rerun && clock.steadyMs() - startedMs < rerunWithinMs) {
          rerun = true;
          continue;
        }
        // Bad data or a violated constraint: one row's fault must not be its neighbours'.
        if (/^2[23]/.test(state ?? '')) return chosen.length === 1 ? [{ error }] : commitOneByOne(chosen);
        throw error;
      }
    }
  }

  async function commitOneByOne(chosen: Waiting<Item, Result>[]): Promise<Outcome<Result>[]> {
    const outcomes: Outcome<Result>[] = [];
    for (const entry of chosen) {
      const [outcome] = await commit([entry]).catch((error: unknown) => [{ error }]);
      outcomes.push(outcome ?? { error: new Error('the batch returned no result') });
    }
    return outcomes;
  }

  return {
    submit,
    drain: () => (busy ? new Promise((resolve) => onIdle.push(resolve)) : Promise.resolve()),
  };
}

type Outcome<Result> = { value: Result } | { error: unknown };

function compare(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
