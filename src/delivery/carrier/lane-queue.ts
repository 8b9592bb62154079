// Tests: src/delivery/smpp/sender.test.ts, src/delivery/http/sender.test.ts
import { type Lane, laneNames } from '../../messages/message.ts';

/** A text or part that waits for a free slot. The queue numbers it. */
export interface LaneItem {
  readonly lane: Lane;
  order?: number;
}

const bulkTurn = 5;

/**
 * The texts or parts that a sender has taken and not sent, in two lanes: the first lane goes first, and while both
 * wait, every fifth comes from the bulk lane.
 */
export function createLaneQueue<Item extends LaneItem>() {
  const queues: Record<Lane, Item[]> = { first: [], bulk: [] };
  /** Where each queue begins: shifting an array of hundreds for every part is slow. */
  const heads: Record<Lane, number> = { first: 0, bulk: 0 };
  let orders = 0;
  /** Items of the first lane sent while bulk waited, since the last bulk item. */
  let firstsInRow = 0;

  const count = (lane: Lane) => queues[lane].length - heads[lane];

  function drop({ lane }: Item): void {
    heads[lane]++;
    if (count(lane) > 0) return;
    queues[lane] = [];
    heads[lane] = 0;
  }

  return {
    get size(): number {
      return count('first') + count('bulk');
    },
    waiting: count,
    add(item: Item): void {
      item.order = orders++;
      queues[item.lane].push(item);
    },
    /** Returns the item to its old position: an item that has to wait keeps its place in the order. */
    putBack(item: Item): void {
      const { lane, order = 0 } = item;
      const queue = queues[lane];
      let index = heads[lane];
      while (index < queue.length && (queue[index]?.order ?? 0) < order) index++;
      queue.splice(index, 0, item);
    },
    /** The next item to send; it stays in the queue. Undefined if none waits, or only bulk, which may not be sent now. */
    next(mayBeBulk: boolean): Item | undefined {
      const isBulksTurn = count('first') === 0 || firstsInRow >= bulkTurn - 1;
      const lane = mayBeBulk && count('bulk') > 0 && isBulksTurn ? 'bulk' : 'first';
      return queues[lane][heads[lane]];
    },
    /** Takes the item that `next` returned: it is sent now. */
    take(item: Item): void {
      if (item.lane === 'bulk') firstsInRow = 0;
      else if (count('bulk') > 0) firstsInRow++;
      drop(item);
    },
    /** Takes the item that `next` returned without using its lane's turn: it is not sent. */
    drop,
    /** Removes and returns all items that fit. */
    takeAll(fits: (item: Item) => boolean): Item[] {
      const taken: Item[] = [];
      for (const lane of laneNames) {
        const kept: Item[] = [];
        for (const item of queues[lane].slice(heads[lane])) (fits(item) ? taken : kept).push(item);
        queues[lane] = kept;
        heads[lane] = 0;
      }
      return taken;
    },
  };
}

/** Number of slots that bulk never uses: two, unless there are few. */
export function keptForFirst(slots: number): number {
  return Math.min(2, Math.floor(slots / 2));
}
