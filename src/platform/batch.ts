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
  maxItems?: number;
  maxWaiting?: number;
}

interface Waiting<Item, Result> {
  item: Item;
  keys: string[];
  submittedMs: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** Every caller has its answer within 5 s, whatever became of the batches before its own. */
const answerWithinMs = 4500;
const watchEveryMs = 200;
/** A second run is only worth it while there is time left for it. */
const rerunWithinMs = 1500;
const collisionTries = 5;

/**
 * Group commit: what arrives while a commit is under way goes out together in the next one, so the cost of a commit is
 * shared by all who wait for it. One batch at a time: a second in flight only makes both smaller.
 */
export function createBatch<Item, Result>(options: BatchOptions<Item, Result>): Batch<Item, Result> {
  const { database, clock, keysOf, run, repeatable, withoutTransaction, maxItems = 500, maxWaiting = 20_000 } = options;
  let waiting: Waiting<Item, Result>[] = [];
  const underWay = new Set<Waiting<Item, Result>[]>();
  let busy = false;
  /** The keys of what is under way. */
  const held = new Set<string>();
  let watch: NodeJS.Timeout | undefined;
  const onIdle: (() => void)[] = [];

  function submit(item: Item): Promise<Result> {
    if (waiting.length >= maxWaiting) {
      return Promise.reject(unavailable('The service has more to write down than it can. Try again shortly.'));
    }
    return new Promise((resolve, reject) => {
      const keys = keysOf(item);
      waiting.push({ item, keys, submittedMs: clock.steadyMs(), resolve, reject });
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
    const chosen = takeNext();
    if (chosen.length > 0) void carry(chosen);
    else if (underWay.size === 0 && waiting.length === 0) rest();
  }

  /** While the database has one, we prepare the next; that sets out early when it is large enough to be worth a commit. */
  function startBeside(): void {
    const [first] = underWay;
    if (underWay.size === 1 && first !== undefined && waiting.length >= first.length) startNext();
  }

  async function carry(chosen: Waiting<Item, Result>[]): Promise<void> {
    underWay.add(chosen);
    for (const { keys } of chosen) for (const key of keys) held.add(key);
    const outcomes = await commit(chosen);
    underWay.delete(chosen);
    for (const { keys } of chosen) for (const key of keys) held.delete(key);
    settle(chosen, outcomes);
    // The database is away. Whoever waits behind would run into the same timeout, one batch after another.
    const away = outcomes.find(isAway);
    if (away !== undefined) for (const { reject } of waiting.splice(0)) reject(away.error);
    if (underWay.size === 0) startNext();
    else startBeside();
  }

  function rest(): void {
    clearInterval(watch);
    busy = false;
    for (const idle of onIdle.splice(0)) idle();
  }

  /** The oldest items of which no two share a key, sorted by key so that two nodes lock rows in the same order. */
  function takeNext(): Waiting<Item, Result>[] {
    const taken = new Set(held);
    const chosen: Waiting<Item, Result>[] = [];
    const left: Waiting<Item, Result>[] = [];
    let seen = 0;
    for (; seen < waiting.length && chosen.length < maxItems; seen++) {
      const entry = waiting[seen] as Waiting<Item, Result>;
      const free = !entry.keys.some((key) => taken.has(key));
      // The keys of one that has to wait are taken as well: nobody behind it may overtake it.
      for (const key of entry.keys) taken.add(key);
      (free ? chosen : left).push(entry);
    }
    waiting = [...left, ...waiting.slice(seen)];
    return chosen.sort((a, b) => compare(a.keys[0], b.keys[0]));
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
    const firstInTime = waiting.findIndex(({ submittedMs }) => submittedMs > sinceMs);
    const overdue = waiting.splice(0, firstInTime < 0 ? waiting.length : firstInTime);
    for (const batch of underWay) overdue.push(...batch.filter(({ submittedMs }) => submittedMs <= sinceMs));
    if (overdue.length === 0) return;
    const late = unavailable('The service did not write this down in time. Try again shortly.');
    for (const { reject } of overdue) reject(late);
  }

  async function commit(chosen: Waiting<Item, Result>[]): Promise<Outcome<Result>[]> {
    try {
      const values = await attempt(chosen.map(({ item }) => item));
      return values.map((value) => ({ value }));
    } catch (error) {
      // Bad data or a violated constraint: one row's fault must not be its neighbours'.
      if (chosen.length > 1 && /^2[123]/.test(sqlStateOf(error) ?? '')) return commitHalves(chosen);
      return chosen.map(() => ({ error }));
    }
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

function compare(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
