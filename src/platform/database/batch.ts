import type { Clock } from '../clock.ts';
import { ApiError, unavailable } from '../errors.ts';
import { type BatchQueue, createBatchQueue, type QueuedItem, type QueueLimits } from './batch-queue.ts';
import type { Database, Tx } from './database.ts';
import { isCommitInDoubt, isConnectionLoss, keepsConnectionUsable, sqlStateOf } from './errors.ts';
import { retryCollisions } from './retry-collisions.ts';

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
   * What an item touches: a record's id, an application and number, an idempotency key. Items with an equal key never
   * share a batch, because a statement sees only the state before it: five checks of one code would spend one try.
   */
  keysOf: (item: Item) => string[];
  /** Items with an equal key may share a batch: `run` handles them one after the other. */
  repeats?: true;
  /**
   * Runs one or a few statements for all items and returns results in their order. A rollback does not undo effects
   * outside `tx`. `again` says that the items may have been committed already: the answer to an earlier run was lost.
   */
  run: (tx: Tx, items: Item[], again: boolean) => Promise<Result[]>;
  /**
   * Whether a rerun on committed items returns the same results, for when COMMIT's answer is lost: with `again`,
   * `run` writes only what is missing. False for work that counts or decides.
   */
  repeatable: boolean;
  /** Whether `run` needs no transaction for these items: it writes in one statement, or opens its own transaction. */
  withoutTransaction?: (items: Item[]) => boolean;
  /** The caller an item belongs to. Callers take turns when the queue holds more than one batch. */
  ownerOf?: (item: Item) => string;
  /** The rows an item writes; 1 by default. Batches and the queue are limited by rows, not by requests. */
  weightOf?: (item: Item) => number;
  limits?: Partial<QueueLimits>;
}

const defaultLimits: QueueLimits = { perBatch: 500, waiting: 20_000 };

/** Every caller gets an answer within 5 s, even if earlier batches are slow. */
const answerWithinMs = 4500;
const watchEveryMs = 200;
/** Run a batch again only if the first run failed this early: a later rerun would exceed the 5 s. */
const rerunWithinMs = 1500;
/** Fewer items wait this long for the running batch: a small commit costs nearly as much as a large one. */
const fewItems = 16;
const fewWaitMs = 10;

/**
 * Group commit: items that arrive during a commit share the next one and its cost. At most two batches run at once,
 * and two running items never share a key.
 */
export function createBatch<Item, Result>(options: BatchOptions<Item, Result>): Batch<Item, Result> {
  const { database, clock, keysOf, run, repeatable, withoutTransaction } = options;
  const { ownerOf = () => '', weightOf = () => 1 } = options;
  const queue: BatchQueue<Item, Result> = createBatchQueue({ ...defaultLimits, ...options.limits }, options.repeats);
  const underWay = new Set<QueuedItem<Item, Result>[]>();
  let busy = false;
  /** The keys of all running items. */
  const held = new Set<string>();
  let watch: NodeJS.Timeout | undefined;
  let fewTimer: NodeJS.Timeout | undefined;
  const onIdle: (() => void)[] = [];

  function submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const keys = keysOf(item);
      const [owner, weight, submittedMs] = [ownerOf(item), weightOf(item), clock.steadyMs()];
      if (!queue.add({ item, owner, keys, weight, submittedMs, resolve, reject })) {
        reject(unavailable('The service is overloaded. Try again shortly.'));
        return;
      }
      if (busy) {
        // An item whose key is held cannot join the next batch, so it starts none.
        if (!keys.some((key) => held.has(key))) startBeside();
        return;
      }
      busy = true;
      watch = setInterval(rejectOverdue, watchEveryMs);
      // Wait for this turn of the event loop, so that requests read in it share the batch.
      setImmediate(startNext);
    });
  }

  function startNext(): void {
    const chosen = queue.take(held);
    if (chosen.length > 0) void carry(chosen);
    else if (underWay.size === 0 && queue.length === 0) rest();
  }

  /**
   * Starts a second batch while one runs, once at least as many items wait as the running batch has. A few items let it
   * run for a moment first, and no longer: it may be waiting for a lock.
   */
  function startBeside(): void {
    const [first] = underWay;
    if (underWay.size !== 1 || first === undefined || queue.length < first.length) return;
    if (queue.length >= fewItems) startNext();
    else fewTimer ??= setTimeout(startFewBeside, fewWaitMs);
  }

  function startFewBeside(): void {
    fewTimer = undefined;
    if (underWay.size === 1) startNext();
  }

  async function carry(chosen: QueuedItem<Item, Result>[]): Promise<void> {
    underWay.add(chosen);
    for (const { keys } of chosen) for (const key of keys) held.add(key);
    const outcomes = await commit(chosen);
    underWay.delete(chosen);
    clearTimeout(fewTimer);
    fewTimer = undefined;
    for (const { keys } of chosen) for (const key of keys) held.delete(key);
    settle(chosen, outcomes);
    // Postgres is unreachable: reject all waiting items, so that each batch does not wait for its own timeout.
    const away = outcomes.find(isAway);
    if (away !== undefined) for (const { reject } of queue.removeAll()) reject(away.error);
    if (underWay.size === 0) startNext();
    else startBeside();
  }

  function rest(): void {
    clearInterval(watch);
    busy = false;
    for (const idle of onIdle.splice(0)) idle();
  }

  function settle(chosen: QueuedItem<Item, Result>[], outcomes: Outcome<Result>[]): void {
    chosen.forEach(({ resolve, reject }, index) => {
      const outcome = outcomes[index];
      if (outcome === undefined) reject(new Error('the batch returned fewer results than it had items'));
      else if ('error' in outcome) reject(outcome.error);
      else resolve(outcome.value);
    });
  }

  /** Rejects late items with 503. Their batch may still commit: a 503 never says whether the work was done. */
  function rejectOverdue(): void {
    const sinceMs = clock.steadyMs() - answerWithinMs;
    const overdue = queue.removeSubmittedBefore(sinceMs);
    for (const batch of underWay) overdue.push(...batch.filter(({ submittedMs }) => submittedMs <= sinceMs));
    if (overdue.length === 0) return;
    const late = unavailable('The service is overloaded. Try again shortly.');
    for (const { reject } of overdue) reject(late);
  }

  async function commit(chosen: QueuedItem<Item, Result>[], again = false): Promise<Outcome<Result>[]> {
    try {
      const values = await attempt(
        chosen.map(({ item }) => item),
        again,
      );
      return values.map((value) => ({ value }));
    } catch (error) {
      // A bad item must fail alone, not with its batch.
      if (chosen.length > 1 && isSafeToSplit(error, chosen)) {
        // Postgres undoes what it refuses; after any other error the items may be there.
        return commitHalves(chosen, again || (repeatable && sqlStateOf(error) === undefined));
      }
      return chosen.map(() => ({ error }));
    }
  }

  /**
   * No split on an outage: it would only take longer. After an error of our own code outside a transaction we cannot
   * know what was committed, so only repeatable work may run again.
   */
  function isSafeToSplit(error: unknown, chosen: QueuedItem<Item, Result>[]): boolean {
    if (error instanceof ApiError && error.code === 'UNAVAILABLE') return false;
    if (sqlStateOf(error) !== undefined || repeatable) return true;
    return withoutTransaction?.(chosen.map(({ item }) => item)) !== true;
  }

  /** Halving finds one bad row among 500 in about twenty commits instead of 500. */
  async function commitHalves(chosen: QueuedItem<Item, Result>[], again: boolean): Promise<Outcome<Result>[]> {
    const middle = chosen.length >> 1;
    const first = await commit(chosen.slice(0, middle), again);
    const away = first.find(isAway);
    const rest = chosen.slice(middle);
    return [...first, ...(away === undefined ? await commit(rest, again) : rest.map(() => away))];
  }

  async function attempt(items: Item[], again: boolean): Promise<Result[]> {
    const startedMs = clock.steadyMs();
    const alone = withoutTransaction?.(items) === true;
    let mayExist = again;
    for (let rerun = false; ; rerun = true) {
      try {
        return await retryCollisions(() =>
          alone ? run(database, items, mayExist) : database.transaction((tx) => run(tx, items, mayExist)),
        );
      } catch (error) {
        const inDoubt = alone || isCommitInDoubt(error);
        const harmless = isConnectionLoss(error) && (repeatable || !inDoubt);
        if (!harmless || rerun || clock.steadyMs() - startedMs > rerunWithinMs) throw error;
        mayExist = true;
      }
    }
  }

  return { submit, drain: () => (busy ? new Promise((resolve) => onIdle.push(resolve)) : Promise.resolve()) };
}

type Outcome<Result> = { value: Result } | { error: unknown };

/** Postgres is unreachable. A lock timeout does not count: it concerns only its own batch. */
function isAway(outcome: Outcome<unknown>): outcome is { error: unknown } {
  if (!('error' in outcome)) return false;
  const { error } = outcome;
  return error instanceof ApiError && error.code === 'UNAVAILABLE' && !keepsConnectionUsable(error);
}
