export interface QueuedItem<Item, Result> {
  item: Item;
  /**
   * The caller it belongs to; empty when one caller owns the whole queue. Callers take turns when not all items fit.
   */
  owner: string;
  keys: string[];
  /** Number of rows the item writes. */
  weight: number;
  submittedMs: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export interface BatchQueue<Item, Result> {
  readonly length: number;
  /** False when the queue or the owner's share of it is full. */
  add(entry: QueuedItem<Item, Result>): boolean;
  /**
   * Removes and returns the next batch, sorted by key. Skips items with a key in `held`, and items that share a key unless
   * `repeats` allows it.
   */
  take(held: ReadonlySet<string>): QueuedItem<Item, Result>[];
  removeSubmittedBefore(ms: number): QueuedItem<Item, Result>[];
  removeAll(): QueuedItem<Item, Result>[];
}

/** Limits in rows. An item heavier than a batch goes alone. */
export interface QueueLimits {
  perBatch: number;
  waiting: number;
}

/** One owner may fill at most half of the queue, so others find room. */
const ownerShare = 0.5;

/** With `repeats`, items with the same key may share a batch, and keep their order. */
export function createBatchQueue<Item, Result>(limits: QueueLimits, repeats = false): BatchQueue<Item, Result> {
  let entries: QueuedItem<Item, Result>[] = [];
  let weight = 0;
  const weightOf = new Map<string, number>();

  function change(owner: string, by: number): void {
    weight += by;
    const left = (weightOf.get(owner) ?? 0) + by;
    if (left > 0) weightOf.set(owner, left);
    else weightOf.delete(owner);
  }

  function removed(taken: QueuedItem<Item, Result>[]): QueuedItem<Item, Result>[] {
    for (const { owner, weight } of taken) change(owner, -weight);
    return taken;
  }

  return {
    get length() {
      return entries.length;
    },

    add(entry) {
      const { owner } = entry;
      const ownLimit = owner === '' ? limits.waiting : limits.waiting * ownerShare;
      if (weight >= limits.waiting || (weightOf.get(owner) ?? 0) >= ownLimit) return false;
      entries.push(entry);
      change(owner, entry.weight);
      return true;
    },

    take(held) {
      const order = weight <= limits.perBatch || weightOf.size === 1 ? entries : inTurns(entries);
      const taken = new Set(held);
      const chosen: QueuedItem<Item, Result>[] = [];
      const left = new Set<QueuedItem<Item, Result>>();
      let chosenWeight = 0;
      let seen = 0;
      for (; seen < order.length && chosenWeight < limits.perBatch; seen++) {
        const entry = order[seen] as QueuedItem<Item, Result>;
        const free = !entry.keys.some((key) => taken.has(key));
        const fits = chosenWeight === 0 || chosenWeight + entry.weight <= limits.perBatch;
        const isChosen = free && fits;
        // Block the keys of skipped items too, so that no later item with the same key overtakes them.
        if (!isChosen || !repeats) for (const key of entry.keys) taken.add(key);
        if (isChosen) {
          chosen.push(entry);
          chosenWeight += entry.weight;
        } else left.add(entry);
      }
      if (order === entries) entries = [...left, ...entries.slice(seen)];
      else {
        const gone = new Set(chosen);
        entries = entries.filter((entry) => !gone.has(entry));
      }
      removed(chosen);
      return chosen.sort((a, b) => compare(a.keys[0], b.keys[0]));
    },

    removeSubmittedBefore(ms) {
      const firstLater = entries.findIndex(({ submittedMs }) => submittedMs > ms);
      return removed(entries.splice(0, firstLater < 0 ? entries.length : firstLater));
    },

    removeAll: () => removed(entries.splice(0)),
  };
}

/** The first item of every owner, then the second of every owner, and so on. Each owner's items keep their order. */
function inTurns<Entry extends { owner: string }>(entries: Entry[]): Entry[] {
  const rounds: Entry[][] = [];
  const counts = new Map<string, number>();
  for (const entry of entries) {
    const round = counts.get(entry.owner) ?? 0;
    counts.set(entry.owner, round + 1);
    const place = rounds[round];
    if (place === undefined) rounds[round] = [entry];
    else place.push(entry);
  }
  return rounds.flat();
}

function compare(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
