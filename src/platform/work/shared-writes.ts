export interface SharedWritesOptions<Item, Source> {
  /** Items whose sources have the same key share a write. By default all do. */
  keyOf?: (source: Source) => string;
  mostPerWrite: number;
  write: (items: Item[], source: Source) => Promise<void>;
  /** Maximum number of items of a key that wait, and the error for more. */
  full?: { most: number; refuse: () => Error };
}

interface Call<Item, Source> {
  source: Source;
  items: Item[];
  resolve: () => void;
  reject: (error: Error) => void;
}

/** Several callers share a write and its commit: during one write, items gather for the next. */
export function createSharedWrites<Item, Source = void>(options: SharedWritesOptions<Item, Source>) {
  const { keyOf = () => '', mostPerWrite, write, full } = options;
  const queues = new Map<string, { calls: Call<Item, Source>[]; items: number }>();

  async function writeAll(key: string): Promise<void> {
    for (let batch = takeBatch(key); batch[0] !== undefined; batch = takeBatch(key)) {
      try {
        await write(
          batch.flatMap(({ items }) => items),
          batch[0].source,
        );
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error as Error);
      }
    }
    queues.delete(key);
  }

  /** The oldest calls that fit in one write, and at least one. */
  function takeBatch(key: string): Call<Item, Source>[] {
    const queue = queues.get(key) ?? { calls: [], items: 0 };
    let count = 0;
    let items = 0;
    for (const call of queue.calls) {
      if (count > 0 && items + call.items.length > mostPerWrite) break;
      items += call.items.length;
      count++;
    }
    queue.items -= items;
    return queue.calls.splice(0, count);
  }

  /** Resolves once the items are on disk. */
  return (items: Item[], source: Source): Promise<void> =>
    new Promise((resolve, reject) => {
      const key = keyOf(source);
      const queue = queues.get(key) ?? { calls: [], items: 0 };
      if (full !== undefined && queue.items + items.length > full.most) {
        reject(full.refuse());
        return;
      }
      queue.calls.push({ source, items, resolve, reject });
      queue.items += items.length;
      if (queues.has(key)) return;
      queues.set(key, queue);
      // Calls of the same turn of the event loop share a commit.
      setImmediate(() => void writeAll(key));
    });
}
