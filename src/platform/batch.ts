import { type BatchQueue, createBatchQueue, type QueueLimits, type Waiting } from './batch-queue.ts';
import type { Clock } from './clock.ts';
import type { Database, Tx } from './database.ts';
import { isCommitInDoubt, isConnectionLoss, leavesConnectionWhole, sqlStateOf } from './database-errors.ts';
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
  /** One statement, or a few, for all the items; results in the order of the items. Whatever it does outside `tx` stays. */
  run: (tx: Tx, items: Item[]) => Promise<Result[]>;
  /**
   * Whether `run` may be run again on items that are committed already, because the answer to their COMMIT was lost, and
   * then gives the same results: an insert that takes its ids from the items, says `on conflict (id) do nothing` and
   * reads what is there. What counts or decides is not repeatable: it would judge its own first run.
   */
  repeatable: boolean;
  /** Whether `run` needs no transaction around it for these items: it writes in one statement, or makes its own. */
  withoutTransaction?: (items: Item[]) => boolean;
  /** The caller an item belongs to: when more waits than fits, callers take turns. */
  ownerOf?: (item: Item) => string;
  /** The rows an item writes; 1 unless said. Batches and the queue are bounded by rows, not by requests. */
  weightOf?: (item: Item) => number;
  limits?: Partial<QueueLimits>;
}

const defaultLimits: QueueLimits = { perBatch: 500, waiting: 20_000 };

/** Every caller has its answer within 5 s, whatever became of the batches before its own. */
const answerWithinMs = 4500;
const watchEveryMs = 200;
/** A second run is only worth it while there is time left for it. */
const rerunWithinMs = 1500;
const collisionTries = 5;

/**
 * Group commit: items that arrive while a commit is under way share the next one, and with it the cost of a commit.
 * At most two batches are under way, and never two items with an equal key.
 */
export function createBatch<Item, Result>(options: BatchOptions<Item, Result>): Batch<Item, Result> {
  const { database, clock, keysOf, run, repeatable, withoutTransaction } = options;
  const { ownerOf = () => '', weightOf = () => 1 } = options;
  const queue: BatchQueue<Item, Result> = createBatchQueue({ ...defaultLimits, ...options.limits });
  const underWay = new Set<Waiting<Item, Result>[]>();
  let busy = false;
  /** The keys of what is under way. */
  const held = new Set<string>();
  let watch: NodeJS.Timeout | undefined;
  const onIdle: (() => void)[] = [];

  function submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const keys = keysOf(item);
      const entry = { item, owner: ownerOf(item), keys, weight: weightOf(item), submittedMs: clock.steadyMs() };
      if (!queue.add({ ...entry, resolve, reject })) {
        reject(unavailable('The service is overloaded. Try again shortly.'));
        return;
      }
      if (busy) {
        // One that waits for what is under way makes no batch larger.
        if (!keys.some((key) => held.has(key))) startBeside();
        return;
      }
      busy = true;
      watch = setInterval(rejectOverdue, watchEveryMs);
      // Requests read from their sockets in the same turn of the event loop come along.
      setImmediate(startNext);
    });
  }

  function startNext(): void {
    const chosen = queue.take(held);
    if (chosen.length > 0) void carry(chosen);
    else if (underWay.size === 0 && queue.length === 0) rest();
  }

  /** While the database has one, we prepare the next; that sets out early when it is large enough to be worth a commit. */
  function startBeside(): void {
    const [first] = underWay;
    if (underWay.size === 1 && first !== undefined && queue.length >= first.length) startNext();
  }

  async function carry(chosen: Waiting<Item, Result>[]): Promise<void> {
    underWay.add(chosen);
    for (const { keys } of chosen) for (const key of keys) held.add(key);
    const outcomes = await commit(chosen);
    underWay.delete(chosen);
    for (const { keys } of chosen) for (const key of keys) held.delete(key);
    settle(chosen, outcomes);
    // The database is away: the next batches would run into the same timeout, one after another.
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

  function settle(chosen: Waiting<Item, Result>[], outcomes: Outcome<Result>[]): void {
    chosen.forEach(({ resolve, reject }, index) => {
      const outcome = outcomes[index];
      if (outcome === undefined) reject(new Error('the batch returned fewer results than it had items'));
      else if ('error' in outcome) reject(outcome.error);
      else resolve(outcome.value);
    });
  }

  /** Their batch may still commit: like every 503, this one says nothing of what was done. */
  function rejectOverdue(): void {
    const sinceMs = clock.steadyMs() - answerWithinMs;
    const overdue = queue.removeSubmittedBefore(sinceMs);
    for (const batch of underWay) overdue.push(...batch.filter(({ submittedMs }) => submittedMs <= sinceMs));
    if (overdue.length === 0) return;
    const late = unavailable('The service is overloaded. Try again shortly.');
    for (const { reject } of overdue) reject(late);
  }

  async function commit(chosen: Waiting<Item, Result>[]): Promise<Outcome<Result>[]> {
    try {
      const values = await attempt(chosen.map(({ item }) => item));
      return values.map((value) => ({ value }));
    } catch (error) {
      // Whatever one item caused must not become its neighbours' failure.
      if (chosen.length > 1 && isSafeToSplit(error, chosen)) return commitHalves(chosen);
      return chosen.map(() => ({ error }));
    }
  }

  /**
   * An outage is no item's fault, and splitting would only prolong it. An error of our own code, thrown after a statement
   * that is its own transaction, says nothing about what was committed: only repeatable work may run again then.
   */
  function isSafeToSplit(error: unknown, chosen: Waiting<Item, Result>[]): boolean {
    if (error instanceof ApiError && error.code === 'UNAVAILABLE') return false;
    if (sqlStateOf(error) !== undefined || repeatable) return true;
    return withoutTransaction?.(chosen.map(({ item }) => item)) !== true;
  }

  /** Finds one bad row among 500 in twenty commits rather than 500. */
  async function commitHalves(chosen: Waiting<Item, Result>[]): Promise<Outcome<Result>[]> {
    const middle = chosen.length >> 1;
    const first = await commit(chosen.slice(0, middle));
    const away = first.find(isAway);
    const rest = chosen.slice(middle);
    return [...first, ...(away === undefined ? await commit(rest) : rest.map(() => away))];
  }

  async function attempt(items: Item[]): Promise<Result[]> {
    const startedMs = clock.steadyMs();
    const alone = withoutTransaction?.(items) === true;
    let rerun = false;
    for (let tries = 1; ; tries++) {
      try {
        return alone ? await run(database, items) : await database.transaction((tx) => run(tx, items));
      } catch (error) {
        const collided = /^40(001|P01)$/.test(sqlStateOf(error) ?? '');
        if (collided && tries < collisionTries) continue;
        const inDoubt = alone || isCommitInDoubt(error);
        const harmless = isConnectionLoss(error) && (repeatable || !inDoubt);
        if (!harmless || rerun || clock.steadyMs() - startedMs > rerunWithinMs) throw error;
        rerun = true;
      }
    }
  }

  return {
    submit,
    drain: () => (busy ? new Promise((resolve) => onIdle.push(resolve)) : Promise.resolve()),
  };
}

type Outcome<Result> = { value: Result } | { error: unknown };

/** The database cannot be reached. A lock that took too long concerns only those who asked for it. */
function isAway(outcome: Outcome<unknown>): outcome is { error: unknown } {
  if (!('error' in outcome)) return false;
  const { error } = outcome;
  return error instanceof ApiError && error.code === 'UNAVAILABLE' && !leavesConnectionWhole(error);
}
